/**
 * "There is work." A signal carries a run's id and nothing else; it may be lost, doubled or reordered. PostgreSQL is the
 * truth and the reconciler looks at it each second, so ringing is never awaited and never throws.
 */
export abstract class WorkSignal {
  /** Called after the commit that made the run. */
  abstract ring(runId: string): void;
  /** Whether a ring would be heard now; else the look at PostgreSQL finds the work. */
  abstract get connected(): boolean;
}
