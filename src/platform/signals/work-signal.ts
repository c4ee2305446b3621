/**
 * "There is work." A signal carries a run's id and nothing else; it may be lost, doubled or reordered. PostgreSQL is the
 * truth and the reconciler looks at it each second, so ringing is never awaited and never throws.
 */
export abstract class WorkSignal {
  /** Called after the commit that made the run. */
  abstract ring(runId: string): void;
  /** Whether a signal reaches a worker now. If not, the reconciler finds the work within a second. */
  abstract get connected(): boolean;
}
