// What a proof says: facts that the service has seen itself (reference §26).

export interface CheckFact {
  name: string;
  command: string;
  required: boolean;
  /** Globs, as they were given. */
  protect: readonly string[];
  network: boolean;
  phase: 'before' | 'after';
  /** 0 for the first time in this turn, 1 after the first repair; 0 for `before`. */
  round: number;
  status: 'passed' | 'failed' | 'timed_out' | 'error';
  /** Null where the command did not end by itself. */
  exitCode: number | null;
  durationMs: number;
  /** Of the whole output, in hexadecimal. */
  outputSha256: string;
  /** Protected paths that the agent had changed, and the check did not see changed. */
  protectedChanged: readonly string[];
}

export interface ProofFacts {
  taskId: string;
  turn: number;
  workspace: { id: string; slug: string };
  /** The id of the model. */
  model: string;
  /** With the commit that the checks began from, in full. Null for a task without one. */
  repository: { url: string; commit: string } | null;
  /** Of a task without a repository: `workdirDigest` of what the checks saw. Null with one. */
  workdirSha256: string | null;
  /** Of the patch that the checks began with, in hexadecimal; null where nothing was changed, or without a repository. */
  patchSha256: string | null;
  environment: { slug: string; version: number } | null;
  agent: { slug: string; version: number } | null;
  /** In the order in which they ran: `before`, then each round. */
  checks: readonly CheckFact[];
  /** Of the checks that the result is made of: others were taken away during the turn. */
  names: readonly string[];
  /** `passed` when each required check of `names` has passed in its last round. */
  result: 'passed' | 'failed';
  finishedAt: Date;
}
