// Who holds a run: claim, lease, hand back, recover. Lock order everywhere: the task's row, then the run's.
import { RAN_PARTLY } from '../../engine/models/conversation.js';
import { columns } from '../../platform/database/columns.js';
import { int, ints, raw, sql, uuid, uuids } from '../../platform/database/sql.js';
import { START_TURN, TURN_BEYOND } from '../../resources/billing/meter.sql.js';
import { Run } from '../../resources/tasks/run.entity.js';
import { COUNT_NEWS, recordNews } from '../../resources/tasks/events/record.sql.js';
import {
  ADD_DURATION,
  addDuration,
  closeCalls,
  CLOSED,
  endCommands,
  ENDED_COMMANDS,
} from '../../resources/tasks/task-end.sql.js';
import { statusesBefore, statusOfRun } from '../../resources/tasks/task-status.js';
import { MACHINE, mayTake } from '../machines/machines.sql.js';
import type { ClaimedRun } from './claimed-run.js';
import { hasStatus } from './run-status.js';

const RUN_ID = uuid('runId');
const TASK_ID = uuid('taskId');
const EPOCH = int('epoch');
const LEASE = int('leaseSeconds');
const ID = columns(Run, 'r', ['id']);
type Id = typeof ID.row;

/** How many runs a workspace `w` may have running. */
const CAP = sql`CASE w.plan WHEN 'free' THEN ${int('freeCap')} ELSE ${int('paidCap')} END`;

/**
 * Of a task `t`: whether its figures count on over its turns, because the turn of its parent counts on it.
 */
const KEEPS_FIGURES = raw(`(t.parent_task_id IS NOT NULL AND EXISTS (
    SELECT FROM task_children c WHERE c.task_id = t.id AND c.settled_at IS NULL))`);
/** Milliseconds that it has waited for tasks of its own. */
const WAITED = raw(
  `coalesce(greatest(extract(epoch FROM clock_timestamp() - task.waiting_since) * 1000, 0), 0)::bigint`,
);
/** What tasks that the turn has made hold of it: those that are over hold what they have used, and the rest is given back. */
const reserved = (name: 'steps' | 'tokens' | 'cost_micros') =>
  raw(`turn_reserved_${name} = CASE WHEN task.children = 0 OR run.fresh AND NOT task.keeps THEN 0 ELSE (
    SELECT coalesce(sum(CASE WHEN c.settled_at IS NULL THEN c.reserved_${name} ELSE c.used_${name} END), 0)
    FROM task_children c WHERE c.parent_id = t.id AND (task.keeps OR c.turn = t.turn)) END`);
const RESERVED = sql`${reserved('steps')}, ${reserved('tokens')}, ${reserved('cost_micros')}`;

/**
 * Takes a queued run. The task's row is the mutex; `run` re-checks its condition on the newest version of the row, so of two
 * claims one wins. A first claim of a turn reads the waiting message (after a cancel or a failure: all that were sent before
 * the one that set the task going again, and that one), an interrupting one before those that have waited longer. Every claim
 * reads what is to steer the turn; one that is for checks alone reads nothing. The messages are locked behind the task: one that was withdrawn while the claim waited is in its
 * snapshot still, and is passed over.
 *
 * It calls `may_claim(workspace, cap)` (may-claim.function.ts), which keeps the workspace at or below its plan's cap.
 *
 * A turn that may not start any more is claimed all the same, and ends before its first model call (`usage_exhausted`).
 *
 * A run whose task has its folders on another machine is left to that machine for 2 seconds, and for longer while no snapshot has all of them
 * (docs/decisions/0093).
 *
 * It locks the workspace's row of `workspace_claims` until the commit, so it comes when the task's row is held and nothing is
 * left to wait for. A claim is one statement: a process that is stopped in the middle of it holds nothing.
 */
export const CLAIM = sql`
WITH task AS (
  SELECT t.id, t.model, t.turn, t.children, t.waiting_since, ${KEEPS_FIGURES} AS keeps, t.last_seq, t.last_event, t.machine_id, t.folder_ahead, CASE WHEN t.read_all THEN coalesce(t.read_upto, t.last_seq) END AS read_upto FROM tasks t
  WHERE t.id = (SELECT task_id FROM runs WHERE id = ${RUN_ID}) AND t.status IN (${statusesBefore('running')}) FOR UPDATE),
asked AS MATERIALIZED (
  SELECT w.id, ${CAP} AS cap FROM task t JOIN runs r ON r.task_id = t.id JOIN workspaces w ON w.id = r.workspace_id
  WHERE r.id = ${RUN_ID} AND ${hasStatus('queued')} AND ${mayTake(raw('r'))}),
place AS MATERIALIZED (SELECT FROM asked WHERE may_claim(asked.id, asked.cap)),
run AS (
  UPDATE runs r SET status = 'running', epoch = r.epoch + 1, claimed_at = clock_timestamp(),
    lease_until = clock_timestamp() + make_interval(secs => ${LEASE})
  FROM task, place WHERE r.id = ${RUN_ID} AND r.task_id = task.id AND ${hasStatus('queued')}
  RETURNING r.workspace_id, r.epoch, r.traceparent, r.kind = 'turn' AND r.epoch = 1 AS fresh, r.kind <> 'checks' AS reads),
${START_TURN},
chosen AS (
  SELECT w.id, row_number() OVER (ORDER BY w.seq)::int AS n
  FROM task, run, (
    SELECT id, seq, mode, row_number() OVER (ORDER BY mode = 'interrupt' DESC, seq) AS place FROM (
      SELECT id, seq, mode FROM messages WHERE task_id = (SELECT id FROM task) AND status = 'queued' FOR UPDATE) there) w
  WHERE run.reads AND (w.mode = 'steer' OR run.fresh AND (w.place = 1 OR w.seq <= task.read_upto))),
read AS (
  UPDATE messages m SET status = 'complete', turn = task.turn + run.fresh::int, read_seq = task.last_seq + chosen.n,
    read_at = clock_timestamp()
  FROM task, run, chosen WHERE m.id = chosen.id
  RETURNING m.id, m.read_seq),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, task.last_event + read.read_seq - task.last_seq, 'message.completed', read.id FROM task, read)
UPDATE tasks t SET status = 'running', status_reason = NULL, updated_at = now(), started_at = coalesce(t.started_at, now()),
  last_seq = t.last_seq + (SELECT count(*) FROM read),
  last_event = t.last_event + (SELECT count(*) FROM read),
  turn = t.turn + run.fresh::int,
  machine_id = coalesce(t.machine_id, ${MACHINE}),
  read_all = t.read_all AND NOT run.fresh,
  turn_steps = CASE WHEN run.fresh AND NOT task.keeps THEN 0 ELSE t.turn_steps END,
  turn_tokens = CASE WHEN run.fresh AND NOT task.keeps THEN 0 ELSE t.turn_tokens END,
  turn_duration_ms = CASE WHEN run.fresh THEN 0 ELSE t.turn_duration_ms + ${WAITED} END,
  turn_cost_micros = CASE WHEN run.fresh AND NOT task.keeps THEN 0 ELSE t.turn_cost_micros END,
  waiting_since = NULL, ${RESERVED},
  ${TURN_BEYOND}
FROM run, task WHERE t.id = task.id
RETURNING t.id AS "taskId", run.workspace_id AS "workspaceId", run.epoch, run.traceparent, t.model,
  task.machine_id AS "folderAt"`.rows<Omit<ClaimedRun, 'runId'>>();

/** A row when the run waits for another machine. */
export const IS_LEFT = sql`
SELECT 1 FROM runs r JOIN tasks t ON t.id = r.task_id WHERE r.id = ${RUN_ID} AND ${hasStatus('queued')} AND NOT ${mayTake(raw('r'))}`.rows<object>();

/** A run that is still held. `renewed: false`: its row is locked at this moment. `paused`: its worker is to stop. */
export type Renewal = { epoch: number; renewed: boolean; paused: boolean };

/**
 * Renews leases, and answers which runs are still held. It skips a run that somebody has locked, for one stopped process with
 * an open cancel would stop the leases of all the others; such a run counts as ours until it is known to be somebody else's.
 * In the order of ids, as a request that cancels several.
 */
export const RENEW = sql`
WITH held AS (SELECT * FROM unnest(${uuids('runIds')}, ${ints('epochs')}) AS h(id, epoch)),
free AS (
  SELECT r.id FROM runs r JOIN held h ON h.id = r.id AND h.epoch = r.epoch
  WHERE ${hasStatus('running')} ORDER BY r.id FOR UPDATE OF r SKIP LOCKED),
renewed AS (
  UPDATE runs r SET lease_until = clock_timestamp() + make_interval(secs => ${LEASE}) FROM free WHERE r.id = free.id
  RETURNING r.id)
SELECT r.id, r.epoch, EXISTS (SELECT 1 FROM renewed WHERE renewed.id = r.id) AS renewed,
  (SELECT t.paused FROM tasks t WHERE t.id = r.task_id) AS paused
FROM runs r JOIN held h ON h.id = r.id AND h.epoch = r.epoch WHERE ${hasStatus('running')}`.rows<Id & Renewal>();

/** Puts a run back into the queue, or aside when its task is paused. Commands that its worker could not record the end of are over too. */
export const HAND_BACK = sql`
WITH task AS (SELECT id, paused, last_event FROM tasks WHERE id = ${TASK_ID} AND status IN (${statusesBefore('queued')}) FOR UPDATE),
run AS (
  UPDATE runs r SET status = ${statusOfRun('task')}, lease_until = NULL FROM task
  WHERE r.id = ${RUN_ID} AND r.task_id = task.id AND r.epoch = ${EPOCH} AND ${hasStatus('running')} RETURNING r.task_id, r.claimed_at),
${endCommands(raw('SELECT task_id FROM run'), 'stopped')},
${recordNews(ENDED_COMMANDS)}
UPDATE tasks t SET ${COUNT_NEWS}, status = 'queued', updated_at = now(), ${ADD_DURATION} FROM run WHERE t.id = ${TASK_ID}`.rows();

/** Ends a lease. The reconciler takes the run from there, and counts it: what broke may break again. */
export const END_LEASE = sql`
UPDATE runs r SET lease_until = clock_timestamp()
WHERE r.id = ${RUN_ID} AND r.epoch = ${EPOCH} AND ${hasStatus('running')}`.rows();

/** Recoveries without a finished step between them before a run counts as poison (reference §5). */
const MAX_RECOVERIES = raw('5');

/**
 * Takes a run from a worker that has not renewed its lease, or fails its task. The epoch moves at once, so that the silent
 * worker is fenced before anyone else may claim. It skips a task that somebody has locked.
 */
export const RECOVER = sql`
WITH task AS (
  SELECT t.id, t.last_event, t.paused, r.claimed_at, r.lease_until FROM tasks t JOIN runs r ON r.task_id = t.id
  WHERE r.id = ${RUN_ID} AND t.status IN (${statusesBefore('queued')}) FOR UPDATE OF t SKIP LOCKED),
run AS (
  UPDATE runs r SET epoch = r.epoch + 1, lease_until = NULL, recovery_count = r.recovery_count + 1, created_at = clock_timestamp(),
    status = CASE WHEN r.recovery_count < ${MAX_RECOVERIES} THEN ${statusOfRun('task')} ELSE 'finished' END,
    finished_at = CASE WHEN r.recovery_count < ${MAX_RECOVERIES} THEN NULL ELSE now() END
  FROM task WHERE r.id = ${RUN_ID} AND r.task_id = task.id AND ${hasStatus('running')} AND r.lease_until < clock_timestamp()
  RETURNING r.task_id, r.status = 'finished' AS poison, task.claimed_at, task.lease_until),
${closeCalls(raw('SELECT task_id FROM run WHERE poison'), raw(`'The worker was lost while this ran; ${RAN_PARTLY}'`))},
${endCommands(raw('SELECT task_id FROM run'), 'lost')},
${recordNews(sql`${CLOSED} UNION ALL ${ENDED_COMMANDS}`)}
UPDATE tasks t SET ${COUNT_NEWS}, updated_at = now(), ${addDuration(raw('run.lease_until'))},
  status = CASE WHEN run.poison THEN 'failed' ELSE 'queued' END,
  read_all = t.read_all OR run.poison,
  finished_at = CASE WHEN run.poison THEN now() END,
  status_reason = CASE WHEN run.poison
    THEN '{"code": "worker_lost", "message": "The work on this task was interrupted too often without progress.", "retryable": true}'::jsonb
    WHEN t.paused THEN t.status_reason
    ELSE '{"code": "recovered", "message": "The worker was lost; another one takes over.", "retryable": true}'::jsonb END
FROM run WHERE t.id = run.task_id
RETURNING run.poison`.rows<{ poison: boolean }>();

/** Some runs whose lease has run out. */
export const EXPIRED = sql`
SELECT ${ID} FROM runs r WHERE r.status = 'running' AND r.lease_until < clock_timestamp()
ORDER BY r.lease_until LIMIT 50`.rows<Id>();

const LIMIT = int('limit');
const OPEN = int('open');
const CLAIMING = uuids('claiming');

/** The order of what waits: it stands three times in {@link QUEUED}. */
const FAIR = raw('fresh, n, claimed_at NULLS FIRST, created_at');

/** A run that is to start; `first`: its workspace has no running task, so it may have a kept place. */
export type QueuedRun = Id & { first: boolean };

/**
 * The queued runs that are to start next, fair over workspaces (docs/decisions/0014): first what was taken from a worker, then
 * the workspaces with the fewest running, of these the one that was given a place the longest ago. After the open places
 * come only first runs of workspaces (docs/decisions/0029). Visits each workspace that waits once, by its first entry in the
 * index runs_waiting, and reads no more of it than may run, and what it passes over on the way there because another machine is to take it: what came
 * in the last 2 seconds, mostly (docs/decisions/0093). `OFFSET 0` keeps the order of the index: without it all that waits is asked, and then sorted. What
 * is being claimed counts as running: the first run of a workspace
 * gets no kept place while the claim of another of its runs for an open one is not committed.
 */
export const QUEUED = sql`
WITH RECURSIVE waiting AS (
  (SELECT workspace_id AS id FROM runs WHERE status = 'queued' ORDER BY workspace_id LIMIT 1)
  UNION ALL
  SELECT (
    SELECT r.workspace_id FROM runs r WHERE r.status = 'queued' AND r.workspace_id > waiting.id ORDER BY r.workspace_id LIMIT 1)
  FROM waiting WHERE waiting.id IS NOT NULL),
next AS MATERIALIZED (
  SELECT q.id, running.n + q.n = 1 AS first, q.epoch = 0 AS fresh, running.n + q.n AS n, c.claimed_at, q.created_at
  FROM waiting JOIN workspaces w ON w.id = waiting.id LEFT JOIN workspace_claims c ON c.workspace_id = w.id
  CROSS JOIN LATERAL (
    SELECT (SELECT count(*)::int FROM runs WHERE workspace_id = w.id AND status = 'running')
      + (SELECT count(*)::int FROM runs WHERE id = ANY(${CLAIMING}) AND workspace_id = w.id AND status = 'queued') AS n) running
  CROSS JOIN LATERAL (
    SELECT i.id, i.epoch, i.created_at, row_number() OVER ()::int AS n FROM (
      SELECT o.* FROM (
        SELECT r.id, r.epoch, r.created_at, r.task_id FROM runs r
        WHERE r.workspace_id = w.id AND r.status = 'queued' AND r.id <> ALL(${CLAIMING})
        ORDER BY (r.kind = 'turn' AND r.epoch = 0), r.created_at, r.id OFFSET 0) o
      WHERE (SELECT ${mayTake(raw('o'))} FROM tasks t WHERE t.id = o.task_id)
      LIMIT greatest(least(${CAP} - running.n, ${OPEN} + (running.n = 0)::int), 0)) i) q)
SELECT id, first FROM (
  (SELECT * FROM next ORDER BY ${FAIR} LIMIT ${OPEN}) UNION (SELECT * FROM next WHERE first ORDER BY ${FAIR} LIMIT ${LIMIT})) found
ORDER BY ${FAIR} LIMIT ${LIMIT}`.rows<QueuedRun>();
