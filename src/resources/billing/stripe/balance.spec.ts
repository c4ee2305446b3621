import { type Counted, type Paid, settle } from './balance.js';

const NEW: Counted = { paid: 0, back: 0, taken: 0 };

describe('A payment in the balance (reference §14)', () => {
  it('counts once', () => {
    const first = settle(5, NEW, { paid: 100, back: 0 });
    expect(first).toEqual({ balance: 105, taken: 0 });
    expect(settle(first.balance, { paid: 100, back: 0, taken: 0 }, { paid: 100, back: 0 })).toEqual(first);
  });

  it('is taken back down to 0', () => {
    expect(settle(100, { paid: 100, back: 0, taken: 0 }, { paid: 100, back: 30 })).toEqual({ balance: 70, taken: 30 });
    expect(settle(20, { paid: 100, back: 0, taken: 0 }, { paid: 100, back: 30 })).toEqual({ balance: 0, taken: 20 });
  });

  it('gives back of a dispute that is won what was taken, and no more', () => {
    expect(settle(0, { paid: 100, back: 100, taken: 20 }, { paid: 100, back: 0 })).toEqual({ balance: 20, taken: 0 });
    // A part was refunded as well.
    expect(settle(0, { paid: 100, back: 100, taken: 90 }, { paid: 100, back: 40 })).toEqual({ balance: 50, taken: 40 });
  });

  it('comes to the same in whichever steps it is seen, while nothing is spent', () => {
    const steps: Paid[] = [
      { paid: 100, back: 0 },
      { paid: 100, back: 25 },
      { paid: 100, back: 100 },
      { paid: 100, back: 25 },
    ];
    for (let seen = 0; seen < 2 ** steps.length; seen += 1) {
      let [balance, before] = [7, NEW];
      for (const now of steps.filter((_, i) => (seen & (1 << i)) !== 0).concat({ paid: 100, back: 25 })) {
        const next = settle(balance, before, now);
        [balance, before] = [next.balance, { ...now, taken: next.taken }];
      }
      expect(balance).toBe(82);
    }
  });
});
