import { setTimeout as wait } from 'node:timers/promises';
import { isPassing } from './database-errors.js';

/** Between two attempts, in milliseconds. */
const AGAIN_MS = 250;

/**
 * Calls `ask`, and again while the database cannot be reached. A call that failed may have been carried out, so `ask` must be
 * safe to repeat. Rejects with the reason of `signal` when the work has to be given up, two thirds of a lease after the last
 * confirmation.
 */
export async function retryWhileUnavailable<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error)) throw error;
      signal.throwIfAborted();
    }
    await wait(AGAIN_MS);
  }
}
