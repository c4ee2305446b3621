import { LeaseLostError } from '../../platform/jobs/leases.js';

/** A run that this process holds: every write about it carries the epoch, and a write that touches no row stops it. */
export interface ClaimedRun {
  runId: string;
  taskId: string;
  workspaceId: string;
  epoch: number;
  /** The task's model: an id of the catalogue. */
  model: string;
  /** The machine that has the folders of the task: as of the claim, and this one as soon as they are restored. Null: none had any. */
  folderAt: string | null;
  /** The span of the transaction that made it (W3C Trace Context); null without one. */
  traceparent: string | null;
  /** Whether its task has checks: as of the load, and of each step since. A change of a task reaches the run so, without a question of its own. */
  hasChecks?: boolean;
}

/** A run, and the signal that ends its work here. */
export interface ActiveRun {
  run: ClaimedRun;
  signal: AbortSignal;
}

/** By which a line of the log names a run. */
export function idsOf({ workspaceId, taskId, runId }: ClaimedRun) {
  return { workspaceId, taskId, runId };
}

/** What ends the work on a run in this process. */
export interface RunSignals {
  /** Aborted when the run has to end at once. */
  signal: AbortSignal;
  /** Aborted some seconds before that when this process is told to stop: no further step begins. */
  stopping: AbortSignal;
}

/** Another worker, a cancel or a deletion has taken the run: abort, kill the sandbox, write nothing more. */
export class FencedError extends LeaseLostError {
  override readonly name = 'FencedError';
  constructor(run: ClaimedRun) {
    super(`Run ${run.runId} is no longer held at epoch ${run.epoch}.`);
  }
}

/** This process stops: the run goes back to the queue for another, without counting as a recovery. */
export class HandedBackError extends Error {
  override readonly name = 'HandedBackError';
}
