// What npm test has a short witness of, and `npm run test:slow` whole (scripts/slow.mjs): what waits for real time, kills processes, fills
// disks, or tries each of many.

import { SLOW } from './numbers.js';

export { SLOW };

const nothing = Object.assign(() => undefined, { each: () => () => undefined });

/** A test, or a block of tests, that npm test does not have. The whole form of a file with one has only these and {@link sizedIt}. */
export const slowIt = SLOW ? it.only : (nothing as unknown as typeof it);
export const slowDescribe = SLOW ? describe.only : (nothing as unknown as typeof describe);

/** A test, or a block of tests, of both forms, larger in the whole one. */
export const sizedIt = SLOW ? it.only : it;
export const sizedDescribe = SLOW ? describe.only : describe;
