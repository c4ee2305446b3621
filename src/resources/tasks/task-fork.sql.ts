// How a task is forked (reference §5, docs/decisions/0092).
import { USER, visible, WORKSPACE } from '../../access/auth/visibility.js';
import type { TaskChecks } from '../../engine/checks/check.js';
import type { Budget } from '../../engine/agent/agent-engine.js';
import type { StoredPart } from '../../engine/models/conversation.js';
import { columns } from '../../platform/database/columns.js';
import { NEW_ID } from '../../platform/database/ids.js';
import {
  bool,
  int,
  intOrNull,
  jsonb,
  raw,
  sql,
  text,
  textOrNull,
  texts,
  textsOrNull,
  uuid,
  uuidOrNull,
} from '../../platform/database/sql.js';
import { exhausted, MODEL, type WindowState } from '../billing/usage.sql.js';
import { type StoredRepository, Task, type TaskSkill } from './task.entity.js';
import { NETWORK } from './task.sql.js';
import { UNBEGUN_TURN } from './task-status.js';

const SOURCE = columns(Task, 't', ['id', 'model', 'effort', 'budget', 'repository', 'checks', 'approvals', 'web', 'skills', 'mcpServers', 'agentId', 'agentVersion']); // prettier-ignore
const TASK_ID = uuid('taskId');
const SOURCE_ID = uuid('sourceId');
const TURN = int('turn');

/** Keeps the project of a task that the caller sees from being deleted until the transaction ends. */
export const HOLD_PROJECT_OF = sql`
SELECT 1 FROM projects p WHERE p.id = (SELECT t.project_id FROM tasks t WHERE ${visible('t')} AND t.id = ${SOURCE_ID})
FOR KEY SHARE`.rows();

/** Keeps a task that the caller sees from being deleted, and from moving on, until the transaction ends. */
export const HOLD_SOURCE = sql`
SELECT ${SOURCE} FROM tasks t WHERE ${visible('t')} AND t.id = ${SOURCE_ID} FOR KEY SHARE OF t`.rows<
  typeof SOURCE.row
>();

/** SQL: how many turns of a task `t` have ended. */
const ENDED = sql`(t.turn - (t.status NOT IN ('completed', 'failed', 'cancelled') AND NOT EXISTS (${UNBEGUN_TURN}))::int)`;

/**
 * SQL: whether calls of a turn `f.turn` of a task `t` may have changed its folder after its last snapshot `s`, as in a turn that was cut off. What was
 * open while a person was asked did nothing, when nobody has answered.
 */
const CHANGED_SINCE = sql`EXISTS (
  SELECT 1 FROM messages m JOIN tool_invocations v ON v.message_id = m.id
  WHERE m.task_id = t.id AND m.turn = f.turn AND v.state IN ('success', 'error') AND v.name <> ALL(${texts('traceless')})
    AND v.finished_at > s.created_at AND NOT EXISTS (
      SELECT 1 FROM interactions i WHERE i.message_id = m.id AND i.status = 'cancelled' AND i.created_at < v.finished_at))`;

/**
 * The turn that is forked (null: the last one that has ended), how many have ended, and the snapshot of its end. `gone`: there is none, and
 * the task had a folder then, as far as anybody can tell.
 */
export const TURN_OF = sql`
SELECT f.ended, f.turn, s.id AS "snapshotId", s.id IS NULL
  AND (t.repository IS NOT NULL OR EXISTS (
    SELECT 1 FROM messages m JOIN tool_invocations v ON v.message_id = m.id WHERE m.task_id = t.id AND m.turn <= f.turn))
  AND (t.workdir_bytes > 0 OR EXISTS (SELECT 1 FROM snapshots o WHERE o.task_id = t.id)) AS gone
FROM tasks t CROSS JOIN LATERAL (SELECT ${ENDED} AS ended, coalesce(${intOrNull('wanted')}, ${ENDED}) AS turn) f
LEFT JOIN LATERAL (
  SELECT s.id, s.created_at FROM snapshots s WHERE s.task_id = t.id AND s.turn = f.turn ORDER BY s.created_at DESC, s.id DESC LIMIT 1) s
  ON NOT ${CHANGED_SINCE}
WHERE t.id = ${SOURCE_ID}`.rows<{ ended: number; turn: number; snapshotId: string | null; gone: boolean }>();

const RUN_ID = uuidOrNull('runId');
const MESSAGE_ID = uuid('messageId');
const SNAPSHOT = uuidOrNull('snapshotId');

/** SQL: the output of a call `v`, which names the files that the fork `had` by its ids: those of an answer, and one that was published. */
const OUTPUT = raw(`CASE
    WHEN v.name = 'ask' AND v.output @? 'strict $.files[*].id' THEN jsonb_set(v.output, '{files}', (
      SELECT jsonb_agg(CASE WHEN had.id IS NULL THEN o.file ELSE o.file || jsonb_build_object('id', had.new_id) END ORDER BY o.n)
      FROM jsonb_array_elements(v.output -> 'files') WITH ORDINALITY AS o(file, n) LEFT JOIN had ON had.id::text = o.file ->> 'id'))
    WHEN v.name = 'publish' THEN coalesce((
      SELECT v.output || jsonb_build_object('id', had.new_id) FROM had WHERE had.id::text = v.output ->> 'id'), v.output)
    ELSE v.output END`);

/**
 * The new task with all that it takes along, in one statement. Files, messages and snapshot point at the bytes and objects of the original,
 * which is held. Its places in the conversation stay, and its next message comes behind them. Without a run it is completed.
 */
export const FORK = sql`
WITH source AS (SELECT t.*, ${NETWORK} AS network_allowed FROM tasks t WHERE t.id = ${SOURCE_ID}),
was AS MATERIALIZED (
  SELECT m.*, ${raw(NEW_ID)} AS new_id FROM messages m
  WHERE m.task_id = ${SOURCE_ID} AND m.read_seq IS NOT NULL AND m.turn <= ${TURN}),
attached AS MATERIALIZED (
  SELECT part ->> 'fileId' AS id FROM was, jsonb_array_elements(was.parts) part WHERE was.role = 'user' AND part ->> 'type' = 'file'
  UNION ALL
  SELECT answered ->> 'id' FROM was JOIN tool_invocations v ON v.message_id = was.id, jsonb_path_query(v.output, '$.files[*]') answered
  WHERE v.name = 'ask' AND v.state = 'success'),
had AS MATERIALIZED (
  SELECT f.*, ${raw(NEW_ID)} AS new_id FROM files f
  WHERE f.task_id = ${SOURCE_ID} AND (f.turn <= ${TURN} OR f.origin = 'attachment' AND f.id::text IN (SELECT id FROM attached))),
said AS (
  SELECT coalesce(max(greatest(seq, read_seq)), 0)::int AS last, count(*)::int AS n FROM was),
environment AS (
  SELECT e.id, source.environment_version AS version FROM source JOIN environments e ON e.id = source.environment_id FOR KEY SHARE OF e),
answer AS (
  SELECT string_agg(p.part ->> 'text', E'\n\n' ORDER BY p.n) AS text
  FROM (SELECT parts FROM was WHERE role = 'assistant' AND turn = ${TURN} ORDER BY read_seq DESC LIMIT 1) last,
    jsonb_array_elements(last.parts) WITH ORDINALITY AS p(part, n)
  WHERE p.part ->> 'type' = 'text'),
task AS (
  INSERT INTO tasks AS t (id, workspace_id, created_by, title, status, finished_at, model, effort, budget, metadata, tags, opening,
    message_count, last_seq, last_event, turn, project_id, approvals, when_blocked, web, skills, mcp_servers, repository, output_schema, changes,
    result_text, result_output, result_file_ids, environment_id, environment_version, environment_build_id, agent_id, agent_version, checks, forked_from)
  SELECT ${TASK_ID}, ${WORKSPACE}, ${USER}, coalesce(${textOrNull('title')}, source.title),
    CASE WHEN ${RUN_ID} IS NULL THEN 'completed' ELSE 'queued' END, CASE WHEN ${RUN_ID} IS NULL THEN now() END,
    ${MODEL}, ${textOrNull('effort')}, ${jsonb<Budget | null>()('budget')},
    coalesce(${jsonb<Record<string, string> | null>()('metadata')}, source.metadata), coalesce(${textsOrNull('tags')}, source.tags),
    source.opening, said.n + (${RUN_ID} IS NOT NULL)::int, said.last + (${RUN_ID} IS NOT NULL)::int, (${RUN_ID} IS NOT NULL)::int, ${TURN},
    CASE WHEN ${bool('setsProject')} THEN ${uuidOrNull('projectId')} ELSE (
      SELECT p.id FROM projects p WHERE p.id = source.project_id FOR KEY SHARE) END,
    ${text('approvals')}, coalesce(${textOrNull('whenBlocked')}, source.when_blocked), ${bool('web')}, ${jsonb<TaskSkill[]>()('skills')}, ${texts('mcpServers')}, ${jsonb<StoredRepository | null>()('repository')},
    source.output_schema, CASE WHEN source.turn = ${TURN} THEN source.changes END,
    CASE WHEN ${RUN_ID} IS NULL THEN CASE WHEN source.turn = ${TURN} THEN coalesce(source.result_text, answer.text) ELSE answer.text END END,
    CASE WHEN ${RUN_ID} IS NULL AND source.turn = ${TURN} THEN source.result_output END,
    CASE WHEN ${RUN_ID} IS NULL THEN (SELECT array_agg(had.new_id) FROM had WHERE had.origin = 'task' AND had.turn = ${TURN}) END,
    (SELECT id FROM environment), (SELECT version FROM environment),
    (SELECT b.id FROM environment_builds b WHERE b.id = source.environment_build_id FOR KEY SHARE), source.agent_id, source.agent_version,
    CASE WHEN ${bool('setsChecks')} THEN ${jsonb<TaskChecks | null>()('checks')} ELSE source.checks END,
    jsonb_build_object('taskId', source.id, 'turn', ${TURN}, 'isolated', NOT source.network_allowed)
  FROM source, said, answer
  RETURNING t.id, t.last_seq),
files AS (
  INSERT INTO files (id, workspace_id, task_id, origin, name, path, media_type, size, sha256, turn, created_by, created_at)
  SELECT had.new_id, had.workspace_id, task.id, had.origin, had.name, had.path, had.media_type, had.size, had.sha256, had.turn,
    had.created_by, had.created_at
  FROM task, had),
messages AS (
  INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, created_by, parts, mode, created_at, read_at)
  SELECT was.new_id, task.id, was.seq, was.read_seq, was.turn, was.role, was.status, was.created_by,
    CASE WHEN was.parts @? '$[*].fileId' THEN (
      SELECT jsonb_agg(CASE WHEN had.id IS NULL THEN p.part ELSE p.part || jsonb_build_object('fileId', had.new_id) END ORDER BY p.n)
      FROM jsonb_array_elements(was.parts) WITH ORDINALITY AS p(part, n) LEFT JOIN had ON had.id::text = p.part ->> 'fileId')
    ELSE was.parts END, was.mode, was.created_at, was.read_at
  FROM task, was
  UNION ALL
  SELECT ${MESSAGE_ID}, task.id, task.last_seq, NULL, NULL, 'user', 'queued', ${USER}, ${jsonb<StoredPart[]>()('parts')}, 'queue',
    clock_timestamp(), NULL
  FROM task WHERE ${RUN_ID} IS NOT NULL),
calls AS (
  INSERT INTO tool_invocations (message_id, idx, tool_call_id, name, input, input_text, state, output, error, started_at, finished_at,
    stage, for_model)
  SELECT was.new_id, v.idx, v.tool_call_id, v.name, v.input, v.input_text, v.state, ${OUTPUT}, v.error, v.started_at, v.finished_at,
    v.stage, v.for_model
  FROM task, was JOIN tool_invocations v ON v.message_id = was.id),
cuts AS (
  INSERT INTO context_cuts (task_id, seq, kind, upto_message_id, upto_calls, summary, through_message_id, tokens_after)
  SELECT task.id, c.seq, c.kind, upto.new_id, c.upto_calls, c.summary, through.new_id, c.tokens_after
  FROM task, context_cuts c JOIN was upto ON upto.id = c.upto_message_id JOIN was through ON through.id = c.through_message_id
  WHERE c.task_id = ${SOURCE_ID}),
snapshot AS (
  INSERT INTO snapshots (id, workspace_id, task_id, turn, step, files, bytes, manifest)
  SELECT ${raw(NEW_ID)}, s.workspace_id, task.id, ${TURN}, s.step, s.files, s.bytes, s.manifest
  FROM task, snapshots s WHERE s.id = ${SNAPSHOT}
  RETURNING id),
uses AS (
  INSERT INTO snapshot_uses (snapshot_id, workspace_id, object)
  SELECT snapshot.id, u.workspace_id, u.object FROM snapshot, snapshot_uses u WHERE u.snapshot_id = ${SNAPSHOT}),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, 1, 'message.created', ${MESSAGE_ID} FROM task WHERE ${RUN_ID} IS NOT NULL),
run AS (
  INSERT INTO runs (id, task_id, workspace_id, kind, status, traceparent)
  SELECT ${RUN_ID}, task.id, ${WORKSPACE}, 'turn', 'queued', ${textOrNull('traceparent')} FROM task WHERE ${RUN_ID} IS NOT NULL)
SELECT ${exhausted(WORKSPACE, MODEL)} AS exhausted FROM task`.rows<{ exhausted: WindowState | null }>();
