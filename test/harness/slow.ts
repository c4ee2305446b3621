// What npm test has a short witness of, and `npm run test:slow` whole (scripts/slow.mjs): what waits for real time, kills processes, fills
// disks, or tries each of many.

/** Whether this is the whole form: for sizes, such as `SLOW ? 500 : 50`. */
export const SLOW = process.env['MILLWRIGHT_SLOW'] === '1';

const nothing = Object.assign(() => undefined, { each: () => () => undefined });

/** A test, or a block of tests, that npm test does not have. */
export const slowIt = SLOW ? it : (nothing as unknown as typeof it);
export const slowDescribe = SLOW ? describe : (nothing as unknown as typeof describe);
