/**
 * What a signal is about. The kind `runs` is a run; every other kind is the name of a job queue, and the id that of a job in it.
 * A type, not an interface, so that it is plain JSON to Bull.
 */
export type Ring = { kind: string; id: string };

/** The kind of a run. No job queue has this name. */
export const RUNS = 'runs';

/**
 * "There is work." A signal carries a kind and an id and nothing else; it may be lost, doubled or reordered. PostgreSQL is the
 * truth and is looked at each second, so ringing is never awaited and never throws.
 */
export abstract class WorkSignal {
  /** Called after the commit that made the run or the job. */
  abstract ring(kind: string, id: string): void;
  /** Whether a signal reaches a worker now. If not, the work is found within a second. */
  abstract get connected(): boolean;
}
