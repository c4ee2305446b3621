// How a run makes tasks, and waits for them: as run-recorder.sql.ts.
import type { Budget } from '../../engine/agent/agent-engine.js';
import type { Folder } from '../../engine/agent/delegation.js';
import type { StoredPart } from '../../engine/models/conversation.js';
import { NEW_ID } from '../../platform/database/ids.js';
import { jsonb, raw, sql, textOrNull, uuid } from '../../platform/database/sql.js';
import type { StatusReason } from '../../resources/tasks/task-status.js';
import { NETWORK } from '../../resources/tasks/task.sql.js';
import { ADD_DURATION } from '../../resources/tasks/task-end.sql.js';
import { PAUSED } from '../../resources/tasks/task-pause.sql.js';
import {
  CALL_ID,
  fence,
  fenceWithRoom,
  HELD,
  MESSAGE_ID,
  type Published,
  SETTLED,
  TASK_ID,
} from './run-recorder.sql.js';

/** A task as it is to be made. */
export interface ChildRow {
  idx: number;
  id: string;
  messageId: string;
  runId: string;
  title: string;
  opening: string;
  model: string;
  effort: string | null;
  budget: Budget | null;
  folder: Folder;
  /** Null: that of its parent. */
  agentId: string | null;
  agentVersion: number | null;
  parts: StoredPart[];
  reservedSteps: number | null;
  reservedTokens: number | null;
  reservedCostMicros: number | null;
}
/** A file that one of them begins with. */
export type ChildFile = Published & { taskId: string; path: string };

const TASKS = jsonb<ChildRow[]>()('tasks');
const FILES = jsonb<ChildFile[]>()('files');
const BASE = jsonb<Published | null>()('base');
const PAUSED_REASON = raw(`'${JSON.stringify(PAUSED)}'::jsonb`);
const SUM = (name: string) => raw(`(SELECT coalesce(sum("${name}"), 0) FROM given)`);

/** Whether the folders of a task may hold what no snapshot has. */
export const IS_AHEAD = sql`SELECT folder_ahead AS ahead FROM tasks WHERE id = ${uuid('taskId')}`.rows<{
  ahead: boolean;
}>();

/**
 * Makes all tasks of a call, each with its message, its files and its run, and takes from the turn what they may use. No row, and nothing is written, when the
 * files do not fit. They are paused with their parent, when somebody has paused that while its call was carried out. What a child may reach is what its
 * parent may. An agent that is named for it, whose definition is `says`, takes from that and adds nothing (docs/decisions/0106); the tools that its parent does not have it keeps beside its own agent.
 */
export const MAKE = sql`
WITH ${fenceWithRoom(HELD)},
parent AS MATERIALIZED (
  SELECT t.*, task.created_by AS by, task.project_id AS project, task.paused AS rests, task.resumes_at AS until,
    ${NETWORK} AS network_allowed, (
    SELECT jsonb_build_object('deny', jsonb_agg(DISTINCT d.name)) FROM (
      SELECT json_array_elements_text(v.definition -> 'tools' -> 'deny') FROM agent_versions v
      WHERE v.agent_id = t.agent_id AND v.version = t.agent_version
      UNION ALL SELECT jsonb_array_elements_text(t.child_of -> 'deny')) AS d(name) HAVING count(*) > 0) AS denied
  FROM tasks t, task, run WHERE t.id = task.id),
given AS MATERIALIZED (
  SELECT g.*, v.definition AS says FROM parent, jsonb_to_recordset(${TASKS}) AS g(idx int, id uuid, "messageId" uuid, "runId" uuid, title text, opening text, model text,
    effort text, budget jsonb, folder text, "agentId" uuid, "agentVersion" int, parts jsonb, "reservedSteps" int, "reservedTokens" bigint, "reservedCostMicros" bigint)
    LEFT JOIN agent_versions v ON v.agent_id = g."agentId" AND v.version = g."agentVersion"),
child AS (
  INSERT INTO tasks (id, workspace_id, created_by, title, status, paused, resumes_at, status_reason, model, effort, budget, opening, message_count, last_seq, last_event,
    project_id, approvals, when_blocked, web, mcp_servers, repository, environment_id, environment_version, environment_build_id, parent_task_id, child_of,
    agent_id, agent_version, skills, output_schema, tags, metadata)
  SELECT g.id, parent.workspace_id, parent.by, g.title, 'queued', parent.rests, CASE WHEN parent.rests THEN parent.until END,
    CASE WHEN parent.rests THEN ${PAUSED_REASON} END, g.model, g.effort, nullif(g.budget, 'null'), g.opening, 1, 1, 1,
    parent.project, CASE WHEN 'writes' IN (parent.approvals, g.says ->> 'approvals') THEN 'writes'
      WHEN 'secrets' IN (parent.approvals, g.says ->> 'approvals') THEN 'secrets' ELSE 'none' END,
    parent.when_blocked, parent.web AND coalesce((g.says ->> 'web')::boolean, true),
    CASE WHEN json_typeof(g.says -> 'mcpServers') = 'array' THEN ARRAY(
      SELECT s.name FROM unnest(parent.mcp_servers) WITH ORDINALITY AS s(name, n)
      WHERE s.name IN (SELECT json_array_elements_text(g.says -> 'mcpServers')) ORDER BY s.n) ELSE parent.mcp_servers END,
    CASE WHEN g.folder <> 'empty' AND parent.repository IS NOT NULL THEN
      parent.repository || jsonb_build_object('push', NULL, 'patch', CASE WHEN g.folder = 'repository' THEN ${BASE} ->> 'sha256' END) END,
    parent.environment_id, parent.environment_version, CASE WHEN g.folder = 'copy' THEN parent.environment_build_id END,
    parent.id, jsonb_build_object('isolated', NOT parent.network_allowed,
      'automationRunId', coalesce(parent.automation_run_id, (parent.child_of ->> 'automationRunId')::uuid)) || coalesce(parent.denied, '{}'),
    coalesce(g."agentId", parent.agent_id), CASE WHEN g."agentId" IS NULL THEN parent.agent_version ELSE g."agentVersion" END,
    CASE WHEN json_typeof(g.says -> 'skills') = 'array' THEN (
      SELECT coalesce(jsonb_agg(s.one ORDER BY s.n), '[]') FROM jsonb_array_elements(parent.skills) WITH ORDINALITY AS s(one, n)
      WHERE s.one ->> 'name' IN (SELECT split_part(k, '@', 1) FROM json_array_elements_text(g.says -> 'skills') k)) ELSE parent.skills END,
    CASE WHEN json_typeof(g.says -> 'outputSchema') = 'object' THEN g.says -> 'outputSchema' END,
    ARRAY(SELECT json_array_elements_text(g.says -> 'tags')), coalesce((g.says -> 'metadata')::jsonb, '{}')
  FROM parent, given g),
message AS (
  INSERT INTO messages (id, task_id, seq, role, status, created_by, parts)
  SELECT g."messageId", g.id, 1, 'user', 'queued', parent.by, g.parts FROM parent, given g),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref) SELECT g.id, 1, 'message.created', g."messageId" FROM given g),
files AS (
  INSERT INTO files (id, workspace_id, task_id, origin, name, path, media_type, size, sha256, turn, created_by)
  SELECT f.id, parent.workspace_id, f."taskId", 'attachment', f.name, f.path, f."mediaType", f.size, f.sha256, NULL::int, parent.by
  FROM parent, jsonb_to_recordset(${FILES}) AS f(id uuid, "taskId" uuid, name text, path text, "mediaType" text, size bigint, sha256 text)
  UNION ALL
  SELECT (b ->> 'id')::uuid, parent.workspace_id, parent.id, 'shown', b ->> 'name', NULL, b ->> 'mediaType', (b ->> 'size')::bigint, b ->> 'sha256',
    parent.turn, parent.by
  FROM parent, (SELECT ${BASE} AS b) base WHERE b IS NOT NULL),
snapshot AS (
  INSERT INTO snapshots (id, workspace_id, task_id, turn, step, files, bytes, manifest)
  SELECT ${raw(NEW_ID)}, s.workspace_id, g.id, 0, 0, s.files, s.bytes, s.manifest
  FROM given g, parent CROSS JOIN LATERAL (
    SELECT * FROM snapshots o WHERE o.task_id = parent.id ORDER BY o.created_at DESC, o.id DESC LIMIT 1) s
  WHERE g.folder = 'copy'
  RETURNING id, workspace_id),
uses AS (
  INSERT INTO snapshot_uses (snapshot_id, workspace_id, object)
  SELECT snapshot.id, snapshot.workspace_id, u.object FROM snapshot, parent, snapshot_uses u
  WHERE u.snapshot_id = (SELECT o.id FROM snapshots o WHERE o.task_id = parent.id ORDER BY o.created_at DESC, o.id DESC LIMIT 1)),
runs AS (
  INSERT INTO runs (id, task_id, workspace_id, kind, status, traceparent)
  SELECT g."runId", g.id, parent.workspace_id, 'turn', CASE WHEN parent.rests THEN 'paused' ELSE 'queued' END, ${textOrNull('traceparent')} FROM parent, given g),
made AS (
  INSERT INTO task_children (message_id, tool_call_id, idx, parent_id, turn, number, task_id, title, base_sha256, reserved_steps, reserved_tokens,
    reserved_cost_micros)
  SELECT ${MESSAGE_ID}, ${CALL_ID}, g.idx, parent.id, parent.turn, parent.children + g.idx + 1, g.id, g.title,
    CASE WHEN g.folder <> 'empty' THEN ${BASE} ->> 'sha256' END, g."reservedSteps", g."reservedTokens", g."reservedCostMicros"
  FROM parent, given g)
UPDATE tasks t SET children = t.children + (SELECT count(*) FROM given), updated_at = now(),
  turn_reserved_steps = t.turn_reserved_steps + ${SUM('reservedSteps')},
  turn_reserved_tokens = t.turn_reserved_tokens + ${SUM('reservedTokens')},
  turn_reserved_cost_micros = t.turn_reserved_cost_micros + ${SUM('reservedCostMicros')}
FROM run WHERE t.id = ${TASK_ID} RETURNING t.id`.rows<{ id: string }>();

/** Puts the run aside until the tasks are over that its call has made. Nothing of the turn is closed. */
export const WAIT = sql`
WITH ${fence(raw(`status = 'paused', lease_until = NULL`))}
UPDATE tasks t SET status = 'queued', updated_at = now(), waiting_since = clock_timestamp(), ${ADD_DURATION}, ${SETTLED},
  status_reason = CASE WHEN t.paused THEN t.status_reason ELSE ${jsonb<StatusReason>()('reason')} END
FROM run WHERE t.id = ${TASK_ID} RETURNING t.id`.rows<{ id: string }>();
