// The recorder's statements: one round trip each, each a transaction of its own, each behind the fence. Lock order
// everywhere: task, then run.
import type { StartedCall } from '../../engine/agent/agent-engine.js';
import type { EngineSession } from '../../engine/agent/engine-session.js';
import type { ChangeCounts } from '../../engine/agent/input-repository.js';
import type { StoredPart } from '../../engine/models/conversation.js';
import {
  bigint,
  bigintOrNull,
  bool,
  field,
  type Fragment,
  jsonb,
  type None,
  raw,
  sql,
  text,
  textOrNull,
  texts,
  uuid,
  uuidOrNull,
} from '../../platform/database/sql.js';
import { CALL, EXHAUSTED_NOW, METER, METER_FREELY, underWay } from '../../resources/billing/meter.sql.js';
import { exhausted, LIMITED, type WindowState } from '../../resources/billing/usage.sql.js';
import { HAS_CHECKS } from '../../resources/tasks/task.sql.js';
import { above, room, type StorageUsed } from '../../resources/files/storage-quota.sql.js';
import type { StoredFile } from '../../resources/files/file.entity.js';
import { MACHINE } from '../machines/machines.sql.js';
import type { ClaimedRun } from './claimed-run.js';
import { hasStatus } from './run-status.js';
import { NONE_STEERS, STEER, type Steer, type Steering, WAITS_TO_STEER } from './run-steering.sql.js';
import { SPENT, USAGE } from './run-usage.sql.js';

const run = field<ClaimedRun>();
export const TASK_ID = run('run', 'taskId', 'uuid');
export const RUN_ID = run('run', 'runId', 'uuid');
export const EPOCH = run('run', 'epoch', 'int');
const MODEL = run('run', 'model', 'text');

/**
 * The fence: locks the task while it runs, then touches the run only while it is held at our epoch. The UPDATE re-checks its
 * condition on the newest version of the run, also after waiting for a lock. Everything else of a statement joins `run`, so a
 * fenced write touches nothing at all. A statement that holds it takes the whole `run`.
 */
export const fence = <P = None>(
  set: Fragment<None>,
  name: 'run' | 'held' = 'run',
  condition: Fragment<P> | Fragment<None> = raw('true'),
) => sql`
task AS (
  SELECT id, last_seq, last_event, turn, turn_steps, turn_beyond, created_by, project_id, automation_id, workdir_bytes, folder_ahead, paused, resumes_at, read_upto
  FROM tasks WHERE id = ${TASK_ID} AND status = 'running' AND ${condition} FOR UPDATE),
${raw(name)} AS (
  UPDATE runs r SET ${set} FROM task
  WHERE r.id = ${RUN_ID} AND r.task_id = task.id AND r.epoch = ${EPOCH} AND ${hasStatus('running')}
  RETURNING r.workspace_id, r.claimed_at, r.kind)`;

/** A fence that sets something in the run, and holds when the files fit too. */
export const fenceWithRoom = (set: Fragment<None>) => sql`
${fence(set, 'held')},
${room(raw('(SELECT workspace_id FROM held)'), bigint('publishedBytes'))},
run AS (SELECT held.* FROM held, room)`;

/** Something is finished: recoveries begin to count anew. */
const PROGRESSES = raw('recovery_count = 0');
export const PROGRESS = fence(PROGRESSES);
/**
 * The same of a workspace without windows of usage, when no message waits to steer. Without what these need a step costs the database a third
 * less: a statement is made ready as a whole each time, whatever of it runs.
 */
const PROGRESS_FREELY = fence(
  PROGRESSES,
  'run',
  sql`EXISTS (SELECT FROM workspaces w WHERE w.id = ${run('run', 'workspaceId', 'uuid')} AND NOT ${LIMITED})
    AND NOT EXISTS (SELECT FROM messages WHERE task_id = ${TASK_ID} AND ${WAITS_TO_STEER})`,
);
const NOT_EXHAUSTED = raw('NULL::json');
/** Nothing changes in the run. */
export const HELD = raw('epoch = r.epoch');
/** Nothing is finished by the write, so recoveries go on counting. */
export const HOLD = fence(HELD);

/** What a write answers: the messages that it has handed over, among others. */
export interface Written {
  steer: Steering[] | null;
  /** What the workspace stores when that is above its limit. Only after a call. */
  above?: StorageUsed | null;
  /** The window of usage that is used up, if any. After a step and after a call. */
  exhausted?: WindowState | null;
  /** Whether the task has checks. Only after a step. */
  hasChecks?: boolean;
}

export const MESSAGE_ID = CALL.messageId;
export const CALL_ID = text('toolCallId');
export const PARTS = jsonb<StoredPart[]>()('parts');
/** `input` is JSON text: as a value in this one its keys would lose their order. */
const CALLS = jsonb<(Omit<StartedCall, 'input'> & { idx: number; input: string })[]>()('calls');
const STATUS = text('status');

const SURROUNDINGS_PART = jsonb<Extract<StoredPart, { type: 'surroundings' }> | null>()('surroundings');
/** What the model was told before the first message of the task goes into that message; once in a task, else both are null. */
const SURROUNDINGS = sql`
began AS (
  UPDATE messages m SET parts = jsonb_build_array(${SURROUNDINGS_PART}) || m.parts
  FROM task, run WHERE m.id = ${uuidOrNull('beganWith')} AND m.task_id = task.id)`;

/** Records one call of the model: its message, the calls in it, what it used. Lock order: task, run, counter, workspace. */
const step = <A, B, C>(
  progress: Fragment<A>,
  more: Fragment<B>,
  { ctes, events, n, from, messages }: Steer,
  exhaustedNow: Fragment<C>,
) =>
  sql`
WITH ${progress},
message AS (
  INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts, created_at)
  SELECT ${MESSAGE_ID}, task.id, task.last_seq + 1, task.last_seq + 1, task.turn, 'assistant', ${STATUS}, ${PARTS},
    clock_timestamp()
  FROM task, run
  RETURNING id),
calls AS (
  INSERT INTO tool_invocations (message_id, idx, tool_call_id, name, input, input_text, state, stage)
  SELECT message.id, c.idx, c."toolCallId", c.name, c.input::jsonb, c.input, 'running',
    CASE WHEN c."toolCallId" = ${textOrNull('begun')} THEN 'begun' END
  FROM message, jsonb_to_recordset(${CALLS}) AS c(idx int, "toolCallId" text, name text, input text)),
${more},
${ctes}
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref, data)
  SELECT task.id, task.last_event + 1, CASE ${STATUS} WHEN 'complete' THEN 'message.completed' ELSE 'message.created' END,
    ${MESSAGE_ID}, jsonb_build_object('parts', jsonb_array_length(${PARTS}), 'usage', ${USAGE})
  FROM task, run${events(raw('1'))})
UPDATE tasks t SET last_seq = t.last_seq + 1 + ${n}, last_event = t.last_event + 1 + ${n},
  message_count = t.message_count + 1, updated_at = now(),
  tool_calls = t.tool_calls + jsonb_array_length(${CALLS}), folder_ahead = t.folder_ahead OR ${bool('changes')},
  context_tokens = nullif(${CALL.inputTokens}, 0) + ${CALL.outputTokens}, ${SPENT}
FROM run, task${from} WHERE t.id = ${TASK_ID} RETURNING ${messages} AS steer, ${exhaustedNow} AS exhausted, ${HAS_CHECKS}`.rows<Written>();

/** By whether the task begins with it. */
export const STEP = {
  first: step(PROGRESS, sql`${SURROUNDINGS},${METER}`, STEER('1'), EXHAUSTED_NOW),
  further: step(PROGRESS, METER, STEER('1'), EXHAUSTED_NOW),
};
/** The same with {@link PROGRESS_FREELY}; no row, and nothing is written, when that does not hold. */
export const STEP_FREELY = {
  first: step(PROGRESS_FREELY, sql`${SURROUNDINGS},${METER_FREELY}`, NONE_STEERS, NOT_EXHAUSTED),
  further: step(PROGRESS_FREELY, METER_FREELY, NONE_STEERS, NOT_EXHAUSTED),
};

/** Of a call \`c\`: whether the folders may hold now what no snapshot has. An earlier run may have left it open, and have had one since its step. */
const MAY_CHANGE = sql`c.name <> ALL(${texts('traceless')})`;

/** A call is about to run. Nothing is finished by it, so recoveries go on counting. */
export const BEGIN_CALL = sql`
WITH ${fence(HELD)},
begun AS (
  UPDATE tool_invocations v SET stage = 'begun' FROM run
  WHERE v.message_id = ${MESSAGE_ID} AND v.tool_call_id = ${CALL_ID} AND v.state = 'running' RETURNING v.name),
ahead AS (
  UPDATE tasks t SET folder_ahead = true FROM task, begun c WHERE t.id = task.id AND NOT task.folder_ahead AND ${MAY_CHANGE})
SELECT NULL AS steer FROM begun`.rows<Written>();

const LAST = bool('last');
/** A file that is stored, and whose row is to be written. */
export type Published = Pick<StoredFile, 'id' | 'name' | 'mediaType' | 'size' | 'sha256' | 'origin'>;
const FILES = jsonb<Published[]>()('files');

const WORKDIR_BYTES = bigintOrNull('workdirBytes');
/** Null: not measured since the last time. */
export const MEASURED = sql`workdir_bytes = coalesce(${WORKDIR_BYTES}, t.workdir_bytes)`;
const HAS_FOLDER = bool('hasFolder');
/** At the end of a run. A task without a folder is on no machine: any takes its next run at once. */
export const SETTLED = sql`${MEASURED}, machine_id = CASE WHEN ${HAS_FOLDER} THEN t.machine_id END, folder_ahead = t.folder_ahead AND ${HAS_FOLDER}`;

/** As the field of {@link Written}, in a statement with the CTEs `task` and `run`. */
export const EXHAUSTED_AFTER = exhausted(raw('run.workspace_id'), MODEL, underWay('task'));

/** `files`: how many events of the statement stand before these. */
const result = <A, B>(files: Fragment<A>, { ctes, events, n, from, messages }: Steer, exhaustedNow: Fragment<B>) => sql`
invocation AS (
  UPDATE tool_invocations v SET state = ${text('state')}, output = ${textOrNull('output')}::jsonb,
    error = ${textOrNull('error')}, for_model = ${textOrNull('forModel')}::jsonb, finished_at = now()
  FROM run WHERE v.message_id = ${MESSAGE_ID} AND v.tool_call_id = ${CALL_ID} AND v.state = 'running' RETURNING v.name),
message AS (
  UPDATE messages m SET status = CASE WHEN ${LAST} THEN 'complete' ELSE m.status END, parts = m.parts || ${PARTS}
  FROM run WHERE m.id = ${MESSAGE_ID} AND (${LAST} OR ${PARTS} <> '[]')),
${ctes}
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref, data)
  SELECT task.id, task.last_event + ${files} + 1, 'tool.completed', ${MESSAGE_ID},
    jsonb_build_object('toolCallId', ${CALL_ID}) || CASE WHEN ${PARTS} = '[]' THEN '{}' ELSE jsonb_build_object(
      'parts', jsonb_array_length(${PARTS}),
      'after', (SELECT jsonb_array_length(m.parts) FROM messages m WHERE m.id = ${MESSAGE_ID})) END
  FROM task, run
  UNION ALL SELECT task.id, task.last_event + ${files} + 2, 'message.completed', ${MESSAGE_ID}, NULL FROM task, run WHERE ${LAST}${events(sql`${files} + 1 + ${LAST}::int`)})
UPDATE tasks t SET updated_at = now(), last_seq = t.last_seq + ${n}, ${MEASURED},
  last_event = t.last_event + ${files} + 1 + ${LAST}::int + ${n},
  folder_ahead = t.folder_ahead OR EXISTS (SELECT FROM invocation c WHERE ${MAY_CHANGE})
FROM task, run${from} WHERE t.id = ${TASK_ID}
RETURNING ${messages} AS steer,
  ${above(raw('run.workspace_id'), raw('(t.workdir_bytes - task.workdir_bytes)'))} AS above,
  ${exhaustedNow} AS exhausted`;

/**
 * Records the result of a call. `output` is JSON text, for JSON's null is a value; `parts` are added to the message, which is
 * complete after the `last` call.
 */
export const TOOL = sql`
WITH ${PROGRESS},
${result(raw('0'), STEER('0'), EXHAUSTED_AFTER)}`.rows<Written>();
/** The same with {@link PROGRESS_FREELY}; no row, and nothing is written, when that does not hold. */
export const TOOL_FREELY = sql`
WITH ${PROGRESS_FREELY},
${result(raw('0'), NONE_STEERS, NOT_EXHAUSTED)}`.rows<Written>();

/** Those that people are told of; the others are kept for the model. */
const TOLD = sql`jsonb_path_query_array(${FILES}, '$[*] ? (@.origin == "task")')`;

/** As {@link TOOL}, with what the call published or shows. No row, and nothing is written, also when the files do not fit. */
export const PUBLISH = sql`
WITH ${fenceWithRoom(PROGRESSES)},
published AS (
  INSERT INTO files (id, workspace_id, task_id, origin, name, media_type, size, sha256, turn, created_by)
  SELECT f.id, run.workspace_id, task.id, f.origin, f.name, f."mediaType", f.size, f.sha256, task.turn, task.created_by
  FROM task, run, jsonb_to_recordset(${FILES}) AS f(id uuid, origin text, name text, "mediaType" text, size bigint, sha256 text)),
told AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, task.last_event + f.n, 'file.published', (f.file ->> 'id')::uuid
  FROM task, run, jsonb_array_elements(${TOLD}) WITH ORDINALITY AS f(file, n)),
${result(sql`jsonb_array_length(${TOLD})`, STEER('0'), EXHAUSTED_AFTER)}`.rows<Written>();

/** The repository of the task is cloned. */
export const CLONED = sql`
WITH ${PROGRESS}
UPDATE tasks t SET repository = t.repository || jsonb_build_object('commit', ${text('commit')}), updated_at = now()
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

/** The agent program works in this session from now on. */
export const ENGINE_SESSION = sql`
WITH ${fence(HELD)}
UPDATE tasks t SET engine_session = ${jsonb<EngineSession>()('session')}
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

/** What commands of the run reach. The names of a few refused hosts stay: a sandbox may make up any number of them. */
export const NETWORK = sql`
WITH ${fence(HELD)}
UPDATE tasks t SET updated_at = now(), network = jsonb_build_object('hosts', ${texts('hosts')}, 'refused', (
  SELECT coalesce(jsonb_agg(name), '[]') FROM (
    SELECT jsonb_array_elements_text(t.network->'refused') AS name UNION SELECT unnest(${texts('refused')})
    ORDER BY name LIMIT 50) known))
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

const COUNTED = jsonb<ChangeCounts | null>()('counted');

/**
 * What the turn has made of the repository. Nothing is finished by it, so recoveries go on counting: a worker that breaks behind it
 * tells it again.
 */
export const CHANGES = sql`
WITH ${fence(HELD)}
UPDATE tasks t SET changes = ${COUNTED}, updated_at = now()
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

/**
 * As {@link CHANGES}, with the patch. No row, and nothing is written, also when it does not fit. A run that takes the turn up again
 * after its worker was lost adds no second one.
 */
export const CHANGES_PATCH = sql`
WITH ${fenceWithRoom(HELD)},
published AS (
  INSERT INTO files (id, workspace_id, task_id, origin, name, media_type, size, sha256, turn, created_by)
  SELECT f.id, run.workspace_id, task.id, 'task', f.name, f."mediaType", f.size, f.sha256, task.turn, task.created_by
  FROM task, run, jsonb_to_recordset(${FILES}) AS f(id uuid, name text, "mediaType" text, size bigint, sha256 text)
  WHERE NOT EXISTS (
    SELECT 1 FROM files o WHERE o.task_id = task.id AND o.turn = task.turn AND o.origin = 'task' AND o.name = f.name AND o.sha256 = f.sha256)
  RETURNING id),
told AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, task.last_event + 1, 'file.published', published.id FROM task, published)
UPDATE tasks t SET changes = ${COUNTED}, updated_at = now(), last_event = t.last_event + (SELECT count(*)::int FROM published)
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

/** Where the bytes of a file lie. */
export const SHA256 = sql`SELECT sha256 FROM files WHERE id = ${uuid('fileId')}`.rows<Pick<StoredFile, 'sha256'>>();

/**
 * For a run that was taken from its worker: without the fence, because the size is true of the folder, whichever worker has the run. Not where
 * another machine has the folder: nothing was restored here yet, or it lives there since.
 */
export const WORKDIR = sql`
UPDATE tasks t SET ${MEASURED} WHERE t.id = ${uuid('taskId')} AND t.machine_id = ${MACHINE}`.rows();
