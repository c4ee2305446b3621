// How a task is read, locked, made and changed.
import { USER, visible, WORKSPACE } from '../../access/auth/visibility.js';
import type { Budget, StartedCall } from '../../engine/agent/agent-engine.js';
import type { Check, TaskChecks } from '../../engine/checks/check.js';
import { WAIT_TOLD_MS } from '../../engine/agent/engine-settings.js';
import type { StoredPart } from '../../engine/models/conversation.js';
import { columns } from '../../platform/database/columns.js';
import {
  bool,
  boolOrNull,
  intOrNull,
  type Json,
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
import { CHILDREN, type ChildrenUsage } from './children/children.sql.js';
import { SKILLS_OF_TASK } from '../skills/skills.sql.js';
import { USUAL_REPAIRS } from './checks/checks.dto.js';
import { Interaction } from './interactions/interaction.entity.js';
import { ToolInvocation } from './messages/tool-invocation.entity.js';
import { type StoredRepository, Task, type WaitingFor } from './task.entity.js';

const TASK = columns(Task, 't', [
  'id',
  'projectId',
  'title',
  'status',
  'statusReason',
  'resumesAt',
  'model',
  'effort',
  'approvals',
  'whenBlocked',
  'web',
  'skills',
  'mcpServers',
  'budget',
  'metadata',
  'tags',
  'archived',
  'resultText',
  'resultFileIds',
  'outputSchema',
  'resultOutput',
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'reasoningTokens',
  'steps',
  'toolCalls',
  'durationMs',
  'costMicros',
  'messageCount',
  'lastEvent',
  'createdById',
  'automationId',
  'automationRunId',
  'forkedFrom',
  'parentTaskId',
  'repository',
  'changes',
  'network',
  'turn',
  'checked',
  'createdAt',
  'updatedAt',
  'startedAt',
  'finishedAt',
]);
export const INTERACTION = columns(Interaction, 'i', [
  'id',
  'type',
  'question',
  'options',
  'multiple',
  'allowText',
  'createdAt',
  'expiresAt',
]);
const CALL = columns(ToolInvocation, 'v', ['toolCallId', 'name', 'input']);

/** A question that waits for a person, with the call that an approval is about. */
export type InteractionRow = Json<typeof INTERACTION.row> & { toolCall: StartedCall | null };

/** A task with its creator's name and its pending interaction. */
export type TaskRow = Json<typeof TASK.row> & {
  /** Null without one, and when it has been deleted. */
  environment: { slug: string; version: number } | null;
  /** Null without one. */
  agent: { slug: string; version: number } | null;
  hasChecks: boolean;
  createdByName: string;
  /** Null when it has made none. */
  children: ChildrenUsage | null;
  interaction: InteractionRow | null;
  waitingFor: WaitingFor | null;
};

/** The row of a task that was just created: its creator's name is known without a query, and it asks nothing yet. */
type CreatedRow = Omit<TaskRow, 'createdByName' | 'children' | 'interaction' | 'waitingFor'>;

/** The call that an interaction `i` is about, if it is an approval. */
export const TOOL_CALL = sql`
CASE i.type WHEN 'approval' THEN (
  SELECT row_to_json(call) FROM (
    SELECT ${CALL} FROM tool_invocations v
    WHERE v.message_id = i.message_id AND v.tool_call_id = i.tool_call_id) call) END AS "toolCall"`;

/** A task that is queued for more than two seconds waits for a place; its last event says since when. What else it waits for its worker has recorded. */
const WAITING_FOR = raw(`CASE WHEN t.status = 'queued' AND NOT t.paused AND t.waiting_since IS NULL THEN (
    SELECT jsonb_build_object('code', 'place', 'message', 'The task waits for a free place of a worker.', 'since', q.created_at)
    FROM (SELECT e.created_at FROM task_events e WHERE e.task_id = t.id AND e.type IN ('task.created', 'task.queued')
      ORDER BY e.seq DESC LIMIT 1) q
    WHERE q.created_at < now() - interval '${WAIT_TOLD_MS} milliseconds')
  ELSE t.waiting_for END AS "waitingFor"`);

/** The environment of a task `t`. */
const ENVIRONMENT = raw(`CASE WHEN t.environment_id IS NOT NULL THEN (
    SELECT jsonb_build_object('slug', e.slug, 'version', t.environment_version) FROM environments e WHERE e.id = t.environment_id)
  END AS environment`);

/** The agent of a task `t`. */
const AGENT = raw(`CASE WHEN t.agent_id IS NOT NULL THEN (
    SELECT jsonb_build_object('slug', g.slug, 'version', t.agent_version) FROM agents g WHERE g.id = t.agent_id) END AS agent`);

/** What its checks are is read by who carries them out. */
export const HAS_CHECKS = raw('t.checks IS NOT NULL AS "hasChecks"');

/** What a {@link TaskRow} has, of a task `t` and its creator `u`. */
export const TASK_ROW = sql`${TASK}, ${HAS_CHECKS}, ${ENVIRONMENT}, ${AGENT}, ${WAITING_FOR}, ${CHILDREN}, u.name AS "createdByName",
  CASE WHEN t.status = 'awaiting_input' THEN (
    SELECT row_to_json(asked) FROM (
      SELECT ${INTERACTION}, ${TOOL_CALL}
      FROM interactions i WHERE i.task_id = t.id AND i.status = 'pending') asked) END AS interaction`;

/** Reads tasks as {@link TaskRow}s in one statement; append conditions on `t`. */
const TASK_SELECT = sql`
SELECT ${TASK_ROW}
FROM tasks t JOIN users u ON u.id = t.created_by`;

const ID = uuid('id');

/** The task, if the caller sees it. */
export const GET = sql`${TASK_SELECT} WHERE ${visible('t')} AND t.id = ${ID}`.jsonRows<TaskRow>();

/** One row if the caller sees the task. */
export const SEEN = sql`SELECT 1 FROM tasks t WHERE ${visible('t')} AND t.id = ${ID}`.rows<object>();

const PROJECT = uuidOrNull('projectId');
const CHECKS = jsonb<TaskChecks | null>()('checks');
/** What a new task has to pass: what is given for it, else what its project has for such tasks, else its `environment`. An empty list is nothing. */
const GIVEN_CHECKS = sql`(
  SELECT CASE WHEN jsonb_array_length(c.list) > 0 THEN jsonb_build_object('checks', c.list, 'maxRepairs', c.repairs) END
  FROM (
    SELECT coalesce(${jsonb<Check[] | null>()('checks')}, p.checks, v.definition -> 'checks') AS list,
      coalesce(${intOrNull('maxRepairs')}, p.max_repairs, (v.definition -> 'maxRepairs')::int, ${raw(String(USUAL_REPAIRS))}) AS repairs
    FROM (SELECT 1) one LEFT JOIN projects p ON p.id = ${PROJECT} LEFT JOIN environment v ON true) c)`;

const LOCKED = columns(Task, 't', [
  'id',
  'status',
  'createdById',
  'model',
  'effort',
  'budget',
  'checks',
  'children',
  'waitingSince',
  'agentId',
  'agentVersion',
]);
export type LockedTask = typeof LOCKED.row;

/** Locks the task, if the caller sees it. The unit of work holds the membership; locks that follow: run, then file. */
export const LOCK = sql`
SELECT ${LOCKED} FROM tasks t WHERE ${visible('t')} AND t.id = ${ID} FOR UPDATE OF t`.rows<LockedTask>();

/** As {@link LOCK}, for what gives the task work. `exhausted`: the window that keeps its workspace from it, or null. */
export const LOCK_TO_WORK = sql`
WITH t AS (SELECT * FROM tasks t WHERE ${visible('t')} AND t.id = ${ID} FOR UPDATE OF t)
SELECT ${LOCKED}, ${exhausted(WORKSPACE, raw('t.model'))} AS exhausted FROM t`.rows<
  LockedTask & { exhausted: WindowState | null }
>();

/** The task, for a caller that has seen it in this transaction. */
export const READ = sql`${TASK_SELECT} WHERE t.id = ${ID}`.jsonRows<TaskRow>();

/**
 * Not of a task that an event began, nor of its forks and the tasks that it makes: what others have written, and what the task may read, must find no way out together. The one
 * of the event itself may reach hosts that its automation names secrets for (work/runs/run-loader.ts). Of a run that went with its automation nobody knows
 * what began it.
 */
export const NETWORK =
  raw(`(NOT coalesce((t.forked_from ->> 'isolated')::boolean, (t.child_of ->> 'isolated')::boolean, false) AND (t.automation_run_id IS NULL
  OR EXISTS (SELECT 1 FROM automation_runs a WHERE a.id = t.automation_run_id AND a.trigger_type <> 'event')))`);

const TASK_ID = uuid('taskId');
const MESSAGE_ID = uuid('messageId');

/** Of a new task: what is given, else what its environment says, else what is usual. */
const SERVERS = sql`coalesce(${textsOrNull('mcpServers')}, (
      SELECT ARRAY(SELECT n.name FROM jsonb_array_elements_text(definition -> 'mcpServers') WITH ORDINALITY AS n(name, at)
        WHERE n.name <> ALL (${texts('barredServers')}) ORDER BY n.at)
      FROM environment WHERE definition ? 'mcpServers'), ${texts('usualServers')})`;

/**
 * Task, first message and run in one statement: the run is there exactly when the task is. The unit of work holds the
 * membership, so that its removal cancels this task too; the caller holds the project. A trigger writes `task.created`
 * (events/record-task-event.function.ts). `exhausted` as of {@link LOCK_TO_WORK}.
 * `takesDefault`: it works in the newest version of its project's environment, if that has one: the newest that this statement sees, as it reads the
 * definition too. The caller holds an environment that it gives.
 */
export const CREATE = sql`
WITH usual AS (
  SELECT e.id, (SELECT max(version) FROM environment_versions v WHERE v.environment_id = e.id) AS version
  FROM projects p JOIN environments e ON e.id = p.environment_id
  WHERE p.id = ${PROJECT} AND ${bool('takesDefault')} FOR KEY SHARE OF e),
environment AS (
  SELECT v.environment_id AS id, v.version, v.definition FROM environment_versions v
  WHERE v.environment_id = coalesce(${uuidOrNull('environmentId')}, (SELECT id FROM usual))
    AND v.version = coalesce(${intOrNull('environmentVersion')}, (SELECT version FROM usual))),
task AS (
  INSERT INTO tasks AS t (id, workspace_id, created_by, title, untitled, status, model, effort, budget, metadata, tags, opening, message_count,
    last_seq, last_event, project_id, approvals, when_blocked, web, skills, mcp_servers, automation_id, automation_run_id, repository, output_schema,
    environment_id, environment_version, agent_id, agent_version, checks)
  SELECT ${TASK_ID}, ${WORKSPACE}, ${USER}, ${text('title')}, ${bool('untitled')}, 'queued', ${MODEL}, ${textOrNull('effort')},
    ${jsonb<Budget | null>()('budget')}, ${jsonb<Record<string, string>>()('metadata')}, ${texts('tags')}, ${text('opening')}, 1, 1, 1, ${uuidOrNull('projectId')},
    ${text('approvals')}, ${text('whenBlocked')}, ${bool('web')}, ${SKILLS_OF_TASK}, ${SERVERS}, ${uuidOrNull('automationId')}, ${uuidOrNull('automationRunId')},
    ${jsonb<StoredRepository | null>()('repository')}, ${textOrNull('outputSchema')}::json,
    (SELECT id FROM environment), (SELECT version FROM environment), ${uuidOrNull('agentId')}, ${intOrNull('agentVersion')}, ${GIVEN_CHECKS}
  RETURNING ${TASK}, ${HAS_CHECKS}, ${ENVIRONMENT}, ${AGENT}),
message AS (
  INSERT INTO messages (id, task_id, seq, role, status, created_by, parts)
  SELECT ${MESSAGE_ID}, task.id, 1, 'user', 'queued', ${USER}, ${jsonb<StoredPart[]>()('parts')} FROM task),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref) SELECT task.id, 1, 'message.created', ${MESSAGE_ID} FROM task),
run AS (
  INSERT INTO runs (id, task_id, workspace_id, kind, status, traceparent)
  SELECT ${uuid('runId')}, task.id, ${WORKSPACE}, 'turn', 'queued', ${textOrNull('traceparent')} FROM task)
SELECT row_to_json(task) AS row, ${exhausted(WORKSPACE, MODEL)} AS exhausted FROM task`.rows<{
  row: CreatedRow;
  exhausted: WindowState | null;
}>();

/** Replaces what is given. `setsChecks`, `setsProject` and `setsBudget`: the value is given, and may be null. The caller holds the task's lock. */
export const CHANGE = sql`
UPDATE tasks SET title = coalesce(${textOrNull('title')}, title), untitled = untitled AND ${textOrNull('title')} IS NULL,
  project_id = CASE WHEN ${bool('setsProject')} THEN ${PROJECT} ELSE project_id END,
  budget = CASE WHEN ${bool('setsBudget')} THEN ${jsonb<Budget | null>()('budget')} ELSE budget END,
  checks = CASE WHEN ${bool('setsChecks')} THEN ${CHECKS} ELSE checks END,
  metadata = coalesce(${jsonb<Record<string, string> | null>()('metadata')}, metadata),
  tags = coalesce(${textsOrNull('tags')}, tags), archived = coalesce(${boolOrNull('archived')}, archived),
  model = ${MODEL}, effort = ${textOrNull('effort')}, when_blocked = coalesce(${textOrNull('whenBlocked')}, when_blocked),
  mcp_servers = coalesce(${textsOrNull('mcpServers')}, mcp_servers), updated_at = now()
WHERE id = ${TASK_ID}`.rows();
