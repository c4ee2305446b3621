import { type Fragment, type None, raw } from '../../platform/database/sql.js';

/** The statuses that clients see (reference §3). */
export const TASK_STATUSES = ['queued', 'running', 'awaiting_input', 'completed', 'cancelled', 'failed'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export interface StatusReason {
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

export function isFinal(status: TaskStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
