// Tasks that an agent has made: how they are locked with their parent, what a call finds of them, and how a parent goes on (docs/decisions/0103).
import type { JsonValue } from '../../../engine/models/conversation.js';
import { columns } from '../../../platform/database/columns.js';
import { type Fragment, int, raw, sql, text, uuid, uuids } from '../../../platform/database/sql.js';
import { Task } from '../task.entity.js';
import type { StatusReason, TaskStatus } from '../task-status.js';
import { TaskChild } from './task-child.entity.js';

/** What a task says that waits for tasks of its own. */
export const WAITING_FOR_TASKS: StatusReason = {
  code: 'waiting_for_tasks',
  message: 'It goes on when the tasks are over that it has made.',
  retryable: true,
};

const PARENT = uuid('parentId');

/** SQL: a child `c` that a call of its parent waits for. */
const IS_AWAITED = raw(`c.settled_at IS NULL AND NOT c.released AND EXISTS (
    SELECT FROM tool_invocations v WHERE v.message_id = c.message_id AND v.tool_call_id = c.tool_call_id AND v.state = 'running')`);
/** SQL: whether a task `t` waits for tasks that it has made. */
export const WAITS_FOR_TASKS = sql`(t.waiting_since IS NOT NULL AND EXISTS (
    SELECT FROM task_children c WHERE c.parent_id = t.id AND ${IS_AWAITED}))`;

const FAMILY = columns(Task, 't', ['id', 'status', 'children']);

/** SQL: the ids of what the tasks of a CTE `top` have made, and of what that has. */
const BELOW = raw(`SELECT c.id FROM tasks c WHERE c.parent_task_id IN (SELECT id FROM top)
  UNION SELECT b.id FROM tasks c JOIN tasks b ON b.parent_task_id = c.id WHERE c.parent_task_id IN (SELECT id FROM top)`);

/**
 * Locks tasks in the order of their ids, as everybody does who locks several. Not level by level: a task of the first child may be older than the
 * second child. `chosen` selects ids.
 */
const lock = <P>(chosen: Fragment<P>) =>
  sql`SELECT ${FAMILY} FROM tasks t WHERE t.id = ANY(ARRAY(${chosen})) ORDER BY t.id FOR UPDATE`.rows<
    typeof FAMILY.row
  >();

/** Locks the tasks that `top` selects, with what is below them. */
export const lockFamilies = <P>(top: Fragment<P>) => lock(sql`WITH top AS (${top}) SELECT id FROM top UNION ${BELOW}`);

/** Locks what is below these. */
export const LOCK_BELOW = lock(sql`WITH top AS (SELECT unnest(${uuids('taskIds')}) AS id) ${BELOW}`);

/** The parent is to go on with what there is. The caller holds its lock. */
export const RELEASE = sql`
UPDATE task_children SET released = true WHERE parent_id = ${PARENT} AND settled_at IS NULL AND NOT released`.rows();

/** The same of those whose turn has lasted as long as it may. It passes over those that somebody has locked. */
export const RELEASE_OVERDUE = sql`
WITH overdue AS (
  SELECT c.task_id FROM task_children c JOIN tasks t ON c.parent_id = t.id
  WHERE t.waiting_since IS NOT NULL AND NOT t.paused AND c.settled_at IS NULL AND NOT c.released
    AND t.budget ->> 'maxDurationSeconds' IS NOT NULL
    AND t.waiting_since + make_interval(secs => greatest((t.budget ->> 'maxDurationSeconds')::float8 - t.turn_duration_ms / 1000.0, 0)) <= now()
  FOR UPDATE OF c SKIP LOCKED)
UPDATE task_children c SET released = true FROM overdue WHERE c.task_id = overdue.task_id`.rows();

/** `runId`: that waits for a worker now; null when the task waits on. */
export const WAKE = sql`SELECT wake_parent(${PARENT}) AS "runId"`.rows<{ runId: string | null }>();

/** Some of the tasks that nothing keeps waiting, and that nobody has woken. It passes over those whose runs somebody has locked. */
export const FORGOTTEN = sql`
SELECT t.id, t.workspace_id AS "workspaceId", wake_parent(t.id) AS "runId" FROM (
  SELECT t.id, t.workspace_id FROM tasks t JOIN runs r ON r.task_id = t.id AND r.status = 'paused'
  WHERE t.waiting_since IS NOT NULL AND NOT t.paused AND NOT ${WAITS_FOR_TASKS} LIMIT ${int('limit')} FOR UPDATE OF r SKIP LOCKED) t`.rows<{
  id: string;
  workspaceId: string;
  runId: string | null;
}>();

const MADE = columns(TaskChild, 'c', ['number', 'title', 'baseSha256', 'released']);
const FOUND = columns(Task, 't', ['status', 'statusReason', 'resultText', 'resultOutput', 'changes']);

/** A file that a task has published in its last turn. */
export interface FileOfChild {
  name: string;
  sha256: string;
}

/** A task that a call has made, and what became of it; `status` null: it is deleted. */
export type MadeChild = typeof MADE.row & {
  id: string;
  settled: boolean;
  status: TaskStatus | null;
  statusReason: StatusReason | null;
  resultText: string | null;
  resultOutput: JsonValue;
  changes: (typeof FOUND.row)['changes'];
  files: FileOfChild[] | null;
};

/** What a call has made, in the order of its input. */
export const OF_CALL = sql`
SELECT ${MADE}, c.task_id AS id, c.settled_at IS NOT NULL AS settled, ${FOUND}, (
  SELECT json_agg(json_build_object('name', f.name, 'sha256', f.sha256) ORDER BY f.created_at, f.id) FROM files f
  WHERE f.task_id = t.id AND f.origin = 'task' AND f.turn = t.turn) AS files
FROM task_children c LEFT JOIN tasks t ON t.id = c.task_id
WHERE c.message_id = ${uuid('messageId')} AND c.tool_call_id = ${text('toolCallId')} ORDER BY c.idx`.rows<MadeChild>();

/** What the tasks below a task have used together. */
export interface ChildrenUsage {
  tasks: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  steps: number;
  toolCalls: number;
  durationMs: number;
  costMicros: number | null;
}

/** SQL: of a task `t`, a {@link ChildrenUsage}; null when it has made none. */
export const CHILDREN = raw(`CASE WHEN t.children > 0 THEN (
    SELECT json_build_object('tasks', count(*), 'inputTokens', coalesce(sum(b.input_tokens), 0), 'outputTokens', coalesce(sum(b.output_tokens), 0),
      'cachedInputTokens', coalesce(sum(b.cached_input_tokens), 0), 'reasoningTokens', coalesce(sum(b.reasoning_tokens), 0),
      'steps', coalesce(sum(b.steps), 0), 'toolCalls', coalesce(sum(b.tool_calls), 0), 'durationMs', coalesce(sum(b.duration_ms), 0),
      'costMicros', sum(b.cost_micros))
    FROM tasks b WHERE b.parent_task_id = t.id OR b.parent_task_id IN (SELECT m.id FROM tasks m WHERE m.parent_task_id = t.id))
  END AS children`);
