import { type Fragment, type None, raw } from '../../platform/database/sql.js';

/** The statuses that clients see (reference §3). */
export const TASK_STATUSES = ['queued', 'running', 'awaiting_input', 'completed', 'cancelled', 'failed'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Why a task failed, was cancelled, or is queued again (reference §4). An extension's engine may have others. */
export const STATUS_REASON_CODES = [
  'recovered',
  'paused',
  'waiting_for_tasks',
  'cancelled',
  'owner_removed',
  'worker_lost',
  'budget_exceeded',
  'step_limit',
  'output_limit',
  'no_progress',
  'checks_failed',
  'checks_unavailable',
  'content_filter',
  'model_error',
  'model_not_available',
  'model_credentials',
  'model_gone',
  'model_quota',
  'model_overloaded',
  'sandbox_unavailable',
  'runbook_block_failed',
  'usage_exhausted',
  'storage_exhausted',
  'repository_unavailable',
  'mcp_unavailable',
  'environment_building',
  'environment_failed',
  'output_invalid',
  'engine_failed',
  'refusal',
  'max_tokens',
  'max_turn_requests',
  'internal_error',
] as const;

export interface StatusReason {
  /** One of {@link STATUS_REASON_CODES}, or one of an extension. */
  code: string;
  message: string;
  retryable: boolean;
}

/** The one table of legal moves (reference §5). */
const MOVES: Record<TaskStatus, readonly TaskStatus[]> = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['completed', 'failed', 'cancelled', 'awaiting_input', 'queued'],
  awaiting_input: ['queued', 'cancelled'],
  completed: ['queued'],
  failed: ['queued'],
  cancelled: ['queued'],
};

/** `'running', 'queued'` and so on: the statuses from which `to` may be reached, as an SQL list for a conditional UPDATE. */
export function statusesBefore(to: TaskStatus): Fragment<None> {
  const before = TASK_STATUSES.filter((status) => MOVES[status].includes(to));
  return raw(before.map((status) => `'${status}'`).join(', '));
}

/** SQL: the status of a run that is not claimed, by whether its `task` is paused: no worker claims the run of a task that is. */
export const statusOfRun = (task: 'task' | 'waiting'): Fragment<None> =>
  raw(`CASE WHEN ${task}.paused THEN 'paused' ELSE 'queued' END`);

/** SQL: the statuses of a run that has not ended. */
export const OPEN_RUN = raw(`'queued', 'paused', 'running'`);

/** SQL: the turn of a task `t` that no worker has had yet. It is there to read what waits. */
export const UNBEGUN_TURN = raw(
  `SELECT 1 FROM runs r WHERE r.task_id = t.id AND r.kind = 'turn' AND r.status IN ('queued', 'paused') AND r.epoch = 0`,
);

export function isFinal(status: TaskStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
