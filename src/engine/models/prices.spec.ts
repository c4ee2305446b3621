import fc from 'fast-check';
import { costOf } from './prices.js';

const used = (inputTokens: number, outputTokens = 0, cachedInputTokens = 0, reasoningTokens = 0) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens,
  reasoningTokens,
});

describe('The cost of a model call', () => {
  it('is the tokens of each kind at their own price, a million at a time', () => {
    const prices = { input: 0.3, cachedInput: 0.03, output: 1.2 };
    expect(costOf(used(1_000_000, 1_000_000, 400_000), prices)).toBe(180_000 + 12_000 + 1_200_000);
  });

  it.each([
    ['exactly half a micro-dollar goes up', used(1), 0.5, 1],
    ['half above a whole one too', used(3), 0.5, 2],
    ['less than half goes down', used(1), 0.499999, 0],
    ['the smallest price counts', used(500_000), 0.000001, 1],
    // 1.005 × 100 is 100.49999999999999 in binary fractions.
    ['no binary fraction rounds', used(100), 1.005, 101],
    ['nothing used costs nothing', used(0), 3, 0],
  ])('is rounded once, half up: %s', (_what, usage, input, micros) => {
    expect(costOf(usage, { input, output: 0 })).toBe(micros);
  });

  it('is null on a model without prices', () => {
    expect(costOf(used(5, 5), null)).toBeNull();
  });

  it('counts cached tokens as any others when they have no price of their own, and never more of them than there are tokens', () => {
    expect(costOf(used(10, 0, 4), { input: 2, output: 0 })).toBe(20);
    expect(costOf(used(10, 0, 99), { input: 2, cachedInput: 1, output: 0 })).toBe(10);
  });

  it('counts reasoning with the output that it is a part of', () => {
    expect(costOf(used(0, 10, 0, 9), { input: 1, output: 2 })).toBe(20);
  });

  const tokens = fc.nat(1e12);
  // 0 to 4000 USD with six decimals, as a configuration gives them.
  const price = fc.nat(4_000_000_000);

  it('is, for all tokens and prices, a whole number within half a micro-dollar of the exact sum', () => {
    fc.assert(
      fc.property(tokens, tokens, tokens, price, price, price, (input, cached, output, a, b, c) => {
        const prices = { input: a / 1e6, cachedInput: b / 1e6, output: c / 1e6 };
        const cost = costOf(used(input, output, cached), prices);
        const kept = Math.min(cached, input);
        const exact = BigInt(input - kept) * BigInt(a) + BigInt(kept) * BigInt(b) + BigInt(output) * BigInt(c);
        const above = BigInt(cost ?? -1) * 1_000_000n - exact;
        expect(Number.isSafeInteger(cost)).toBe(true);
        expect(above > -500_000n && above <= 500_000n).toBe(true);
      }),
    );
  });
});
