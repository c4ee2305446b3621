import { setTimeout as wait } from 'node:timers/promises';
import { databaseError } from '../../platform/database/database-errors.js';

/** Between two attempts, in milliseconds. */
const AGAIN_MS = 250;

/**
 * Asks the database, and again while it cannot be reached; rejects with the reason of `signal` when the run has to be given
 * up before, two thirds of a lease after its last confirmation. Only for what may be done twice: it may have been done.
 */
export async function retryWhileUnavailable<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (databaseError(error)?.code !== 'unavailable') throw error;
      signal.throwIfAborted();
    }
    await wait(AGAIN_MS);
  }
}
