// The checks of a task as an engine has them (reference §26).
import type { CheckLane } from '../sandbox/workdir/workdirs.js';
import type { CarriedOut, Check, CheckedTurn, CheckPhase, CheckResult, TaskChecks } from '../checks/check.js';
import type { RepositoryChanges } from './input-repository.js';

/**
 * The checks of a task (reference §26). An engine carries out those that are `unknown` beside its first model calls, and all of them when the
 * turn would be completed, after `changes` and before `push`.
 */
export interface InputChecks extends TaskChecks {
  /** Repairs that the turn has begun before this run. */
  repairs: number;
  /** What became of the others on the original. */
  before: CheckedTurn['before'];
  /** Those that nobody has carried out on the original yet. */
  unknown: readonly Check[];
  /** The agent has ended its turn before: the checks run again on what there is, and no model is asked. */
  again: boolean;
  /** What became of a check on the same original, in another task; null: none is known. */
  known(check: Check): Promise<CheckResult | null>;
  /** Rejects with the reason of the signal; what cannot be carried out is a result. */
  run(check: Check, work: CheckedWork): Promise<CarriedOut>;
}

/** What a check looks at. */
export interface CheckedWork {
  phase: CheckPhase;
  /** One check of a lane at a time. */
  lane: CheckLane;
  /** What the agent has made of the repository; null without one, and `before`. */
  changes: RepositoryChanges | null;
  /** Until the turn has run as long as it may; null: without such a limit. */
  secondsLeft: number | null;
  /** Whether `workdirSha256` is wanted: it is the same for all checks of a round. */
  digest: boolean;
  /** Takes what it writes, as it comes: 0 is standard output, 1 standard error. */
  passOn: (stream: 0 | 1, chunk: Buffer) => void;
  signal: AbortSignal;
}
