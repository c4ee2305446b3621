// Ctrl-C, and the SIGTERM of a supervisor, while a verb is at work.
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** A signal has ended the verb. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** As a shell has it: 130 for Ctrl-C. */
  readonly exitCode: number;

  constructor(signal: (typeof SIGNALS)[number]) {
    super('Interrupted. What was under way may have been carried out; nothing is left half done.');
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Waits for the first signal, for as long as `work` goes on, and aborts `interrupted` with {@link Interrupted}. The work is to end
 * after closing what it opened; with whatever it then rejects, this rejects with {@link Interrupted}. A second signal ends the
 * process at once, as if nobody had listened.
 */
export async function interruptible<T>(work: (interrupted: AbortSignal) => Promise<T>): Promise<T> {
  const off: (() => void)[] = [];
  const interruption = new AbortController();
  for (const signal of SIGNALS) {
    const listener = () => {
      for (const remove of off) remove();
      interruption.abort(new Interrupted(signal));
    };
    process.on(signal, listener);
    off.push(() => process.removeListener(signal, listener));
  }
  try {
    return await work(interruption.signal);
  } catch (error) {
    interruption.signal.throwIfAborted();
    throw error;
  } finally {
    for (const remove of off) remove();
  }
}
