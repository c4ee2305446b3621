// Checks: commands by which the service itself finds out whether a task is done (reference §26).
import type { OpenedFile } from '../sandbox/sandbox.js';

/** One command. */
export interface Check {
  name: string;
  /** As the agent's `bash` runs one, in `repo/` when there is a repository, else in the workdir. */
  command: string;
  timeoutSeconds: number;
  /** Whether the turn may be completed without it. */
  required: boolean;
  /** Globs of paths that are as they were in the beginning when the check runs, whatever the agent has made of them. */
  protect: string[];
  /** Whether it has the network of the task, without its secrets. */
  network: boolean;
}

/** What a task has to pass. */
export interface TaskChecks {
  checks: Check[];
  /** How often in a turn the agent may mend what a check has found. */
  maxRepairs: number;
}

export const CHECK_STATUSES = ['passed', 'failed', 'timed_out', 'error'] as const;
/** `error`: it could not be carried out, so it says nothing of the work. */
export type CheckStatus = (typeof CHECK_STATUSES)[number];

/** `before`: on the original. `after`: on what the turn has come to. */
export const CHECK_PHASES = ['before', 'after'] as const;
export type CheckPhase = (typeof CHECK_PHASES)[number];

/** A check that runs, or has run. */
export interface CheckRef {
  name: string;
  phase: CheckPhase;
  /** How often the agent had mended its work in this turn by then. */
  round: number;
}

/** By what one is known within a task, while it runs. */
export const checkId = ({ name, phase, round }: CheckRef): string => `${phase}/${round}/${name}`;

/** What became of one check. */
export interface CheckResult extends Omit<Check, 'timeoutSeconds'> {
  id: string;
  status: CheckStatus;
  /** Null when its command did not come to an end of its own. */
  exitCode: number | null;
  durationMs: number;
  /** The last 64 KiB of what it wrote, both streams as they came. */
  output: string;
  /** Of all that it wrote: how many bytes, and their SHA-256 in hexadecimal digits. */
  outputBytes: number;
  outputSha256: string;
  /** Paths that the agent has changed and the check did not see changed; the first 100 by name. */
  protectedChanged: string[];
  /** Of a task without a repository: the `workdirDigest` of what it began with, protected files as the agent left them; and of one check of a round at least; else null. */
  workdirSha256: string | null;
  /** Of a task with a repository: of the patch that it began with, in hexadecimal; null without one. */
  patchSha256: string | null;
  /** Of one `before`: what it has run on and with, in one digest, where others may run on the same (`originalOf`). Null: not. */
  original: string | null;
}

/** A check that was carried out. */
export interface CarriedOut {
  result: CheckResult;
  /** All that it wrote, where that is longer than `output`; null: it is not, or was not kept. The caller reads it or destroys its content. */
  whole: OpenedFile | null;
}

/** What the checks of a turn have found. Empty: it has none. */
export interface CheckedTurn {
  /** Of its last round. */
  results: readonly CheckResult[];
  /** On the original, as far as that is known. */
  before: readonly Pick<CheckResult, 'name' | 'status'>[];
}

/** A check could not be carried out. The message is for people. */
export class CheckError extends Error {
  override readonly name = 'CheckError';
}
