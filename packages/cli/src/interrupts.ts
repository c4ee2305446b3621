/** The person has pressed Ctrl-C. */
export class Interrupted extends Error {}

/** A signal that the first Ctrl-C ends; a second one ends the process. `told` says how to go on. */
export function untilInterrupted(told: () => void): { signal: AbortSignal; done: () => void } {
  const controller = new AbortController();
  const stop = () => {
    told();
    controller.abort(new Interrupted());
  };
  process.once('SIGINT', stop);
  return { signal: controller.signal, done: () => process.off('SIGINT', stop) };
}
