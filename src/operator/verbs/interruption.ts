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
 * Waits for the first signal, for as long as `work` goes on. The work is to end by rejecting with what `interrupted` rejects
 * with, after closing what it opened; a second signal ends the process at once, as if nobody had listened.
 */
export async function interruptible<T>(work: (interrupted: Promise<never>) => Promise<T>): Promise<T> {
  const off: (() => void)[] = [];
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of SIGNALS) {
      const listener = () => {
        for (const remove of off) remove();
        reject(new Interrupted(signal));
      };
      process.on(signal, listener);
      off.push(() => process.removeListener(signal, listener));
    }
  });
  // Nobody may be waiting for it yet, or any more.
  interrupted.catch(() => undefined);
  try {
    return await work(interrupted);
  } finally {
    for (const remove of off) remove();
  }
}
