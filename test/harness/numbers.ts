import { randomInt } from 'node:crypto';

/** MILLWRIGHT_SEED repeats a run: the same orders, the same faults at the same times. */
export const SEED = Number(process.env['MILLWRIGHT_SEED'] ?? randomInt(2 ** 31));
/** The sizes before a release (scripts/long.mjs). */
export const LONG = process.env['MILLWRIGHT_LONG'] === '1';
/** Whether this is the whole form of a file of `npm test` (slow.ts): for sizes, such as `SLOW ? 500 : 50`. */
export const SLOW = process.env['MILLWRIGHT_SLOW'] === '1';

/** mulberry32: the same numbers from 0 to 1 for the same seed. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
