// What a payment of a top-up does to the balance. Pure; all amounts are micro-dollars.

/** A payment as it stands at the provider. */
export interface Paid {
  paid: number;
  /** Refunded, or disputed and not won. */
  back: number;
}

/** The same as it is in the balance; `taken` is what of `back` was taken from it. */
export interface Counted extends Paid {
  taken: number;
}

/**
 * Brings the balance to where a payment stands: it counts once, what goes back is taken down to 0, and of a dispute that is won comes back
 * what was taken.
 */
export function settle(balance: number, before: Counted, now: Paid): { balance: number; taken: number } {
  const filled = balance + now.paid - before.paid;
  const more = now.back - before.back;
  if (more >= 0) {
    const take = Math.min(Math.max(filled, 0), more);
    return { balance: Math.max(filled - take, 0), taken: before.taken + take };
  }
  const given = Math.max(0, before.taken - now.back);
  return { balance: Math.max(filled + given, 0), taken: before.taken - given };
}
