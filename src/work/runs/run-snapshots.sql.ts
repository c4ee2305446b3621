// How a snapshot of the folders of a run's task is recorded: as run-recorder.sql.ts.
import type { JsonValue } from '../../engine/models/conversation.js';
import { bigint, type Fragment, int, raw, sql, text, textOrNull, texts, uuid } from '../../platform/database/sql.js';
import { above, LIMIT, type StorageUsed } from '../../resources/files/storage-quota.sql.js';
import { EPOCH, HOLD, MESSAGE_ID, PARTS, RUN_ID, TASK_ID } from './run-recorder.sql.js';

/** How many turns have a snapshot: the last one of each. */
const TURNS = 20;

const WORKSPACE_ID = uuid('workspaceId');
/**
 * The newest snapshot of a task, if any, and whether its workspace has left behind more in a day than it may store at all: what no snapshot names
 * is not counted, and a task that writes random bytes in each turn would fill the storage.
 */
export const PREVIOUS = sql`
SELECT (
  SELECT json_build_object('id', p.id, 'manifest', p.manifest, 'walk', p.walk) FROM snapshots p WHERE p.task_id = ${uuid('taskId')}
  ORDER BY p.created_at DESC, p.id DESC LIMIT 1) AS previous,
  coalesce((
    SELECT sum(o.bytes) FROM snapshot_objects o WHERE o.workspace_id = w.id AND o.unnamed_at IS NOT NULL) > ${LIMIT}, false) AS "leftTooMuch"
FROM workspaces w WHERE w.id = ${WORKSPACE_ID}`.rows<{
  previous: { id: string; manifest: string; walk: string | null } | null;
  leftTooMuch: boolean;
}>();

const ID = uuid('id');
const OBJECTS = texts('objects');
/** Others of this turn, and those of turns that are too long ago. */
const OLD = sql`
old AS (
  DELETE FROM snapshots o USING task, made
  WHERE o.task_id = task.id AND o.id <> made.id AND (o.turn = task.turn OR o.turn <= task.turn - ${raw(String(TURNS))}))`;
const COLUMNS = raw('id, workspace_id, task_id, turn, step, files, bytes, manifest, walk');

/** The folders hold nothing now that no snapshot has. */
const KNOWN = sql`
known AS (UPDATE tasks t SET folder_ahead = false FROM made WHERE t.id = ${TASK_ID} AND t.folder_ahead)`;
/** What the workspace stores with it, when that is above its limit. The counter is the trigger's, at the end of the statement. */
const ABOVE = above(
  raw('made.workspace_id'),
  sql`(SELECT coalesce(sum(o.bytes), 0) FROM snapshot_objects o
    WHERE o.workspace_id = made.workspace_id AND o.sha256 = ANY(${OBJECTS}) AND o.unnamed_at IS NOT NULL)`,
);

/**
 * Of a run that was cancelled here, as {@link HOLD} of one that goes on: nothing has begun since. A cancel moves the epoch.
 */
const CANCELLED = sql`
task AS (SELECT id, turn, turn_steps FROM tasks WHERE id = ${TASK_ID} AND status = 'cancelled' FOR UPDATE),
run AS (
  SELECT r.workspace_id FROM runs r, task
  WHERE r.id = ${RUN_ID} AND r.task_id = task.id AND r.epoch = ${EPOCH} + 1 AND r.status = 'cancelled')`;

/** A row when the run is such a one. */
export const CANCELLED_HERE = sql`
WITH ${CANCELLED} SELECT 1 FROM task, run`.rows<object>();

const taken = <P>(held: Fragment<P>) =>
  sql`
WITH ${held},
made AS (
  INSERT INTO snapshots (${COLUMNS})
  SELECT ${ID}, run.workspace_id, task.id, task.turn, task.turn_steps, ${int('files')}, ${bigint('bytes')}, ${text('manifest')},
    ${textOrNull('walk')}
  FROM task, run
  RETURNING id, workspace_id),
used AS (
  INSERT INTO snapshot_uses (snapshot_id, workspace_id, object)
  SELECT made.id, made.workspace_id, object FROM made, unnest(${OBJECTS}) object),
${KNOWN},
${OLD}
SELECT made.id, ${ABOVE} AS above FROM made`.rows<{ id: string; above: StorageUsed | null }>();

const same = <P>(held: Fragment<P>) =>
  sql`
WITH ${held},
made AS (
  INSERT INTO snapshots (${COLUMNS})
  SELECT ${ID}, run.workspace_id, task.id, task.turn, task.turn_steps, p.files, p.bytes, p.manifest, p.walk
  FROM task, run, snapshots p WHERE p.id = ${uuid('previous')} AND p.task_id = task.id
  RETURNING id, workspace_id),
used AS (
  INSERT INTO snapshot_uses (snapshot_id, workspace_id, object)
  SELECT made.id, made.workspace_id, u.object FROM made, snapshot_uses u WHERE u.snapshot_id = ${uuid('previous')}),
${KNOWN},
${OLD}
SELECT made.id, NULL::json AS above FROM made`.rows<{ id: string; above: StorageUsed | null }>();

/** A new snapshot, and the objects that it needs: they are stored. */
export const TAKEN = { held: taken(HOLD), cancelled: taken(CANCELLED) };
/** The folders are as they were at the last snapshot: this one has the same manifest. */
export const SAME = { held: same(HOLD), cancelled: same(CANCELLED) };

/** What the workspace stores, when that is above its limit. */
export const STILL_ABOVE = sql`SELECT ${above(WORKSPACE_ID, raw('0'))} AS above`.rows<{
  above: StorageUsed | null;
}>();

/** Leaves this snapshot alone of its task. */
export const NEWEST_ALONE = sql`
WITH ${HOLD}
DELETE FROM snapshots s USING task, run WHERE s.task_id = ${TASK_ID} AND s.id <> ${ID} RETURNING s.id`.rows<{
  id: string;
}>();

/** The folders of the task are on this machine now. */
export const HERE = sql`
WITH ${HOLD}
UPDATE tasks t SET machine_id = ${uuid('machineId')}, folder_ahead = false FROM task, run WHERE t.id = task.id RETURNING t.id`.rows<{
  id: string;
}>();

/** A call that may have changed the folders of a task, of which the last snapshot knows nothing. */
export interface LostCall {
  messageId: string;
  name: string;
  /** As the model gave them. */
  input: JsonValue;
  /** Of the turn of the task, how many steps the last snapshot knows; 0: none of them. */
  restoredToStep: number;
}

/**
 * What was done since the last snapshot and has left no trace where that is restored, oldest first. What the task was told of before is not among
 * it. Without a snapshot it is what this turn did, whose folder nobody has measured yet, and all that earlier turns did when they have left a
 * folder. Calls that are open get their own word (`INTERRUPTED` of the engine).
 */
export const LOST = sql`
WITH last AS (SELECT turn, step, created_at FROM snapshots WHERE task_id = ${uuid('taskId')} ORDER BY created_at DESC, id DESC LIMIT 1),
since AS (
  SELECT max(s.at) AS at FROM (
    SELECT created_at AS at FROM last
    UNION ALL SELECT created_at FROM messages WHERE task_id = ${uuid('taskId')} AND parts -> 0 ->> 'name' = 'workdir') s)
SELECT m.id AS "messageId", v.name, v.input,
  coalesce((SELECT last.step FROM last JOIN tasks t ON t.id = m.task_id AND t.turn = last.turn), 0) AS "restoredToStep"
FROM since, messages m JOIN tool_invocations v ON v.message_id = m.id
WHERE m.task_id = ${uuid('taskId')} AND m.role = 'assistant' AND v.state IN ('success', 'error') AND v.name <> ALL(${texts('traceless')})
  AND (v.finished_at > since.at OR since.at IS NULL AND EXISTS (
    SELECT FROM tasks t WHERE t.id = m.task_id AND (t.turn = m.turn OR t.workdir_bytes > 0)))
ORDER BY m.seq, v.idx`.rows<LostCall>();

/**
 * As {@link HERE}, and tells people and the agent what is gone. It is a message in the reading order. Both are one statement: a run that breaks before it tells it
 * again, and none after it does.
 */
export const HERE_WITH_LOSS = sql`
WITH ${HOLD},
message AS (
  INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts, created_at)
  SELECT ${MESSAGE_ID}, task.id, task.last_seq + 1, task.last_seq + 1, task.turn, 'assistant', 'complete', ${PARTS}, clock_timestamp()
  FROM task, run),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, task.last_event + 1, 'message.completed', ${MESSAGE_ID} FROM task, run)
UPDATE tasks t SET machine_id = ${uuid('machineId')}, folder_ahead = false, last_seq = t.last_seq + 1, last_event = t.last_event + 1,
  message_count = t.message_count + 1, updated_at = now()
FROM task, run WHERE t.id = task.id RETURNING t.id`.rows<{ id: string }>();
