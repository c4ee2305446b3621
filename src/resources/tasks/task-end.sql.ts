// How work on tasks ends before it is done, and how tasks are deleted. Lock order everywhere: task, then run.
import { columns } from '../../platform/database/columns.js';
import {
  int,
  jsonb,
  raw,
  type Fragment,
  type None,
  sql,
  uuid,
  uuidOrNull,
  uuids,
} from '../../platform/database/sql.js';
import { RAN_PARTLY } from '../../engine/models/conversation.js';
import { lockFamilies } from './children/children.sql.js';
import { closedNews, COUNT_NEWS, PLACE, recordNews } from './events/record.sql.js';
import { Run } from './run.entity.js';
import { sourceType } from './source-type.js';
import { OPEN_RUN, statusesBefore, type StatusReason, UNBEGUN_TURN } from './task-status.js';

/**
 * Two CTEs that close the calls without a result, and the messages that hold them, of the tasks that `tasks` selects: on
 * cancel, failure or recovery a call without result gets an `error` result that says so (reference §6). `error` is an
 * expression on `messages m`.
 */
export const closeCalls = <P>(tasks: Fragment<P>, error: Fragment<None>) => sql`
closed_calls AS (
  UPDATE tool_invocations v SET state = 'error', error = ${error}, finished_at = now()
  FROM messages m WHERE m.id = v.message_id AND m.task_id IN (${tasks}) AND m.status = 'in_progress' AND v.state = 'running'
  RETURNING m.task_id, v.message_id, v.idx, v.tool_call_id),
closed_messages AS (
  UPDATE messages m SET status = 'complete' WHERE m.task_id IN (${tasks}) AND m.status = 'in_progress'
  RETURNING m.task_id, m.id, m.seq)`;

/** CTEs that end the commands of these tasks which still run: what is left of a run that was taken from its worker. */
export const endCommands = <P>(tasks: Fragment<P>, status: 'stopped' | 'lost') => sql`
ended_commands AS (
  UPDATE task_commands c SET status = '${raw(status)}', ended_at = clock_timestamp()
  WHERE c.task_id IN (${tasks}) AND c.status = 'running' RETURNING c.task_id, c.number, c.status)`;

/** The news of {@link endCommands}, for {@link recordNews}. */
export const ENDED_COMMANDS: Fragment<None> = raw(`
SELECT c.task_id, 0 AS place, c.number AS nth, 'command.ended' AS type, NULL::uuid AS ref,
  jsonb_build_object('commandId', 'b' || c.number, 'status', c.status, 'exitCode', NULL) AS data FROM ended_commands c`);

/** The news of {@link closeCalls}, for {@link recordNews}. */
export const CLOSED = closedNews(raw('closed_calls'), raw('closed_messages'));

/** Adds the time from the claim (`run.claimed_at`) to `end` to the figures of the task `t`: only running time counts. */
export const addDuration = (end: Fragment<None>): Fragment<None> => {
  const ms = sql`greatest(extract(epoch FROM ${end} - run.claimed_at) * 1000, 0)::bigint`;
  return sql`duration_ms = t.duration_ms + ${ms}, turn_duration_ms = t.turn_duration_ms + ${ms}`;
};

export const ADD_DURATION = addDuration(raw('clock_timestamp()'));

const TASK_ID = uuid('taskId');

/**
 * Ends the running run of a task as it stands, for a message that interrupts it. The caller holds the task's lock and
 * starts the next turn in the same transaction. Status and epoch move together: what the worker still writes touches nothing.
 */
export const INTERRUPT = sql`
WITH run AS (
  UPDATE runs SET status = 'finished', epoch = epoch + 1, lease_until = NULL, finished_at = now()
  WHERE task_id = ${TASK_ID} AND status = 'running' RETURNING id, task_id, claimed_at),
task AS (SELECT id, last_event FROM tasks WHERE id = ${TASK_ID}),
${closeCalls(
  raw('SELECT task_id FROM run'),
  raw(`'Interrupted by a message before this call had a result; ${RAN_PARTLY}'`),
)},
${endCommands(raw('SELECT task_id FROM run'), 'stopped')},
${recordNews(sql`${CLOSED} UNION ALL ${ENDED_COMMANDS}`)}
UPDATE tasks t SET ${COUNT_NEWS}, ${ADD_DURATION} FROM run WHERE t.id = ${TASK_ID} RETURNING run.id AS "runId"`.rows<{
  runId: string;
}>();

/** Locks what a user has under way, with what is below that, also what is final. */
export const LOCK_OF_USER = lockFamilies(sql`
  SELECT id FROM tasks
  WHERE workspace_id = ${uuid('workspaceId')} AND created_by = ${uuid('userId')} AND status IN (${statusesBefore('cancelled')})`);

const TASK_IDS = uuids('taskIds');

// While a task waits for a person none of its open calls has begun.
const CANCELLED_CALL = raw(`CASE WHEN m.task_id IN (SELECT task_id FROM asked)
    THEN 'Cancelled while the task waited for a person; this call did nothing.'
    ELSE 'Cancelled before this call had a result; ${RAN_PARTLY}' END`);

/** One row while this turn of the task is the last one, begun or not; the caller holds the task's lock. */
export const IS_LAST_TURN = sql`
SELECT 1 FROM tasks t WHERE t.id = ${uuid('taskId')} AND t.turn + EXISTS (${UNBEGUN_TURN})::int = ${int('turn')}`.rows();

/**
 * Cancels tasks with their open runs, for the user `by`, if any; the caller holds the tasks' locks, and this locks the runs in the order of ids. Status
 * and epoch move in one statement, so that a late completion of the worker touches nothing.
 */
export const CANCEL = sql`
WITH task AS (SELECT id, last_event FROM tasks WHERE id = ANY(${TASK_IDS})),
run AS (
  UPDATE runs r SET status = 'cancelled', epoch = r.epoch + 1, lease_until = NULL, finished_at = now()
  FROM (SELECT id, status FROM runs WHERE task_id = ANY(${TASK_IDS}) AND status IN (${OPEN_RUN}) ORDER BY id FOR UPDATE) was
  WHERE r.id = was.id
  RETURNING r.id, r.task_id, CASE was.status WHEN 'running' THEN r.claimed_at END AS claimed_at),
asked AS (UPDATE interactions SET status = 'cancelled' WHERE task_id = ANY(${TASK_IDS}) AND status = 'pending'
  RETURNING task_id, id),
${closeCalls(sql`SELECT unnest(${TASK_IDS})`, CANCELLED_CALL)},
${endCommands(sql`SELECT unnest(${TASK_IDS})`, 'stopped')},
${recordNews(sql`${CLOSED} UNION ALL ${ENDED_COMMANDS}
UNION ALL
SELECT task_id, ${PLACE.interaction}, 0, 'interaction.settled', id,
  jsonb_build_object('outcome', 'cancelled', 'by', ${uuidOrNull('by')}) FROM asked`)},
done AS (
  UPDATE tasks t SET status = 'cancelled', status_reason = ${jsonb<StatusReason>()('reason')}, read_all = true,
    finished_at = now(), updated_at = now(), waiting_since = NULL, ${COUNT_NEWS}, ${ADD_DURATION}
  FROM (SELECT unnest(${TASK_IDS}) AS id) AS chosen LEFT JOIN run ON run.task_id = chosen.id
  WHERE t.id = chosen.id AND t.status IN (${statusesBefore('cancelled')}) RETURNING t.id)
SELECT run.id AS "runId" FROM run`.rows<{ runId: string }>();

const LEASE = int('leaseSeconds');

/**
 * Records that the workdirs are to be removed. A worker that was told to stop a moment ago may still write into one: it
 * removes the folder itself when it has stopped. A lease later it must have stopped, and any worker removes the folder.
 */
export const REMOVE_WORKDIRS = sql`
INSERT INTO folder_removals (kind, id, not_before)
SELECT 'workdir', t.id, clock_timestamp() + CASE WHEN EXISTS (
  SELECT 1 FROM runs r WHERE r.task_id = t.id AND r.claimed_at IS NOT NULL
    AND (r.status IN (${OPEN_RUN}) OR r.finished_at > clock_timestamp() - make_interval(secs => ${LEASE})))
  THEN make_interval(secs => ${LEASE}) ELSE interval '0' END
FROM unnest(${TASK_IDS}) AS t(id)
ON CONFLICT (kind, id) DO NOTHING`.rows();

const RUN_ID = columns(Run, 'r', ['id']);

/**
 * Deletes tasks and answers their open runs; the caller holds the tasks' locks. Messages, calls, questions, runs and files go
 * with the task's row, its events and what webhooks are told of them here, but the last one. A worker's later write finds no run to be fenced by.
 */
export const DELETE = sql`
WITH open AS (SELECT ${RUN_ID} FROM runs r WHERE r.task_id = ANY(${TASK_IDS}) AND r.status IN (${OPEN_RUN})),
gone AS (
  DELETE FROM tasks WHERE id = ANY(${TASK_IDS})
  RETURNING id, workspace_id, project_id, created_by, last_event, automation_id, automation_run_id, parent_task_id),
forgotten AS (DELETE FROM task_events WHERE task_id = ANY(${TASK_IDS})),
withdrawn AS (DELETE FROM workspace_events WHERE task_id = ANY(${TASK_IDS})),
unsent AS (DELETE FROM webhook_deliveries WHERE task_id = ANY(${TASK_IDS})),
told AS (
  INSERT INTO workspace_events (xid, workspace_id, task_id, seq, type, data)
  SELECT pg_current_xact_id()::text::bigint, workspace_id, id, last_event + 1, 'task.deleted', jsonb_build_object(
    'projectId', project_id,
    'createdBy', created_by,
    'source', jsonb_build_object('type', ${raw(sourceType('gone'))},
      'automationId', automation_id, 'automationRunId', automation_run_id)) FROM gone)
SELECT id FROM open`.rows<typeof RUN_ID.row>();

/** A task may have a long history: fifty at a time take moments. */
const lockSome = (which: Fragment<None>) =>
  lockFamilies(sql`SELECT id FROM tasks WHERE workspace_id = ${uuid('workspaceId')} ${which} LIMIT 50`);

/** Locks some tasks of a workspace, with what is below them. */
export const LOCK_SOME = {
  /** Those under way: running before queued, by the alphabet. */
  open: lockSome(sql`AND status IN (${statusesBefore('cancelled')}) ORDER BY status DESC`),
  all: lockSome(raw('')),
};
