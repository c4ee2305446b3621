// The checks of a task as an engine has them (reference §26).
import type { Check, CheckResult, TaskChecks } from '../checks/check.js';
import type { RepositoryChanges } from './input-repository.js';

/** The checks of a task (reference §26). An engine carries them out when the turn would be completed, after `changes` and before `push`. */
export interface InputChecks extends TaskChecks {
  /** Repairs that the turn has begun before this run. */
  repairs: number;
  /** Rejects with the reason of the signal; what cannot be carried out is a result. */
  run(check: Check, work: CheckedWork): Promise<CheckResult>;
}

/** What a check looks at. */
export interface CheckedWork {
  /** What the agent has made of the repository; null without one. */
  changes: RepositoryChanges | null;
  /** Until the turn has run as long as it may; null: without such a limit. */
  secondsLeft: number | null;
  /** Whether `workdirSha256` is wanted: it is the same for all checks of a round. */
  digest: boolean;
  signal: AbortSignal;
}
