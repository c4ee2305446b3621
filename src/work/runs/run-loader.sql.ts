// What a claimed run begins with: the task, its files and its messages in one statement.
import type { TaskCheck } from '../../resources/tasks/checks/task-check.entity.js';
import type { Limits } from '../../engine/agent/delegation.js';
import type { JsonValue } from '../../engine/models/conversation.js';
import { columns } from '../../platform/database/columns.js';
import { bool, raw, sql, uuid } from '../../platform/database/sql.js';
import { underWay } from '../../resources/billing/meter.sql.js';
import { exhausted, type WindowState } from '../../resources/billing/usage.sql.js';
import type { McpOffer } from '../../engine/agent/mcp/input-mcp.js';
import type { Definition } from '../../resources/environments/definition.js';
import { above, type StorageUsed } from '../../resources/files/storage-quota.sql.js';
import { StoredFile } from '../../resources/files/file.entity.js';
import { ZIPS_OF_TASK } from '../../resources/skills/skills.sql.js';
import { TaskCommand } from '../../resources/tasks/commands/task-command.entity.js';
import { StoredCut } from '../../resources/tasks/messages/context-cut.entity.js';
import { Message } from '../../resources/tasks/messages/message.entity.js';
import { ToolInvocation } from '../../resources/tasks/messages/tool-invocation.entity.js';
import { Task } from '../../resources/tasks/task.entity.js';
import { NETWORK } from '../../resources/tasks/task.sql.js';

const TASK = columns(Task, 't', [
  'createdById',
  'paused',
  'effort',
  'approvals',
  'approvedTools',
  'whenBlocked',
  'blocked',
  'budget',
  'turnSteps',
  'turnTokens',
  'turnDurationMs',
  'turnCostMicros',
  'contextTokens',
  'repository',
  'title',
  'untitled',
  'outputSchema',
  'projectId',
  'workdirBytes',
  'checks',
  'mcpServers',
  'engineSession',
  'turnReservedSteps',
  'turnReservedTokens',
  'turnReservedCostMicros',
]);
const MESSAGE = columns(Message, 'm', ['id', 'role', 'parts', 'readSeq']);
const ATTACHMENT = columns(StoredFile, 'f', ['path', 'sha256']);
const CUT = columns(StoredCut, 'c', [
  'seq',
  'kind',
  'uptoMessageId',
  'uptoCalls',
  'summary',
  'throughMessageId',
  'tokensAfter',
]);
const EARLIER = columns(TaskCommand, 'c', ['number', 'command', 'status', 'exitCode', 'output']);
const PROJECT_FILE = columns(StoredFile, 'f', ['name', 'sha256', 'createdAt', 'id']);

const INVOCATION = columns(ToolInvocation, 'v', [
  'toolCallId',
  'name',
  'state',
  'output',
  'error',
  'stage',
  'forModel',
]);
export type InvocationInput = typeof INVOCATION.row & { input: JsonValue };

export type MessageInput = typeof MESSAGE.row & { invocations: InvocationInput[] | null };

/** One row has the task, each of the others a message of it, in any order. */
export type LoadedRow = { task: TaskInput; message: null } | { task: null; message: MessageInput };

/** What a task works in. */
export interface EnvironmentOfTask {
  id: string;
  slug: string;
  version: number;
  definition: Definition;
  /** Of the repository of the task; null without one. */
  repositoryUrl: string | null;
}

/** What the checks of a task need besides. */
interface ForChecks {
  /** How often its agent has gone on in this turn to mend what checks have found. */
  repairs: number;
  /** Those of its checks that have run on the original. */
  seen: Pick<TaskCheck, 'name' | 'command' | 'status'>[];
  /** The run carries out the checks of a turn that has ended before, and no model. */
  again: boolean;
}

export type TaskInput = typeof TASK.row &
  ForChecks & {
    files: { path: string; sha256: string }[] | null;
    project: Pick<StoredFile, 'name' | 'sha256'>[] | null;
    cuts: (typeof CUT.row)[] | null;
    /** The number of its last command that went on beyond its call; null: none has. */
    lastCommand: number | null;
    /** Those whose end its agent has not been told of. */
    commands: (typeof EARLIER.row)[] | null;
    /** What its model was last offered of its servers; null without any, and before its first run. */
    offer: McpOffer | null;
    /** The slug of its workspace; null without a repository and servers. */
    workspace: string | null;
    /** Those that it was made with and that are still there; null: none. */
    skills: { name: string; description: string; sha256: string }[] | null;
    /** Whether its commands may have the network that the operator allows. */
    network: boolean;
    /** How often its agent has asked for a page in this turn; null: it may ask for none. */
    fetched: number | null;
    /** Of the secrets that it may use, those that its automation names; null: whatever there are, and of an event's task none. */
    secretNames: readonly string[] | null;
    /** What it works in; null: in what holds for all. */
    environment: EnvironmentOfTask | null;
    /** What its agent is told, and the tools that it does not have; null without one. */
    agent: { instructions: string; deny: string[] } | null;
    /** Tools that the tasks above it do not have; null: they have all, or there is none. */
    deniedAbove: string[] | null;
    /** The manifest of its last snapshot. */
    snapshot: string | null;
    /** How many tasks it is below of, and how many its turn has made. */
    depth: number;
    made: number;
    /** What it may use of the turn of its parent, while that counts on it; null: it has no parent, or is not counted on any more. */
    share: Limits | null;
    above: StorageUsed | null;
    exhausted: WindowState | null;
  };

const TASK_ID = uuid('taskId');

/** Attachments come with the message that is read: one that waits may still be withdrawn. */
const UNREAD = raw(`EXISTS (
        SELECT 1 FROM messages w, jsonb_array_elements(w.parts) part
        WHERE w.task_id = t.id AND w.status = 'queued' AND part ->> 'fileId' = f.id::text)`);

/** The calls of `messages m`, their arguments as the model wrote them: what was once sent is sent again, byte for byte. */
const INVOCATIONS = sql`
CASE m.role WHEN 'assistant' THEN (
  SELECT json_agg(call ORDER BY call.idx) FROM (
    SELECT v.idx, ${INVOCATION}, coalesce(v.input_text::json, v.input::json) AS input
    FROM tool_invocations v WHERE v.message_id = m.id) call) END AS invocations`;

const FOR_CHECKS = raw(`
    CASE WHEN t.checks IS NULL THEN 0 ELSE (
      SELECT count(*)::int FROM messages k WHERE k.task_id = t.id AND k.turn = t.turn AND k.role = 'assistant' AND k.parts -> 0 ->> 'type' = 'data' AND k.parts -> 0 ->> 'name' = 'checks') END AS repairs,
    CASE WHEN t.checks IS NULL THEN '[]'::json ELSE (
      SELECT coalesce(json_agg(json_build_object('name', c.name, 'command', c.command, 'status', c.status)), '[]'::json) FROM task_checks c
      WHERE c.task_id = t.id AND c.phase = 'before' AND c.status <> 'error') END AS seen,
    t.checks IS NOT NULL AND EXISTS (
      SELECT 1 FROM runs r WHERE r.task_id = t.id AND r.status = 'running' AND r.kind = 'checks') AS again`);

/** Those of earlier runs: what ran then, and the number of the last one. */
const COMMANDS = sql`
    (SELECT max(c.number) FROM task_commands c WHERE c.task_id = t.id) AS "lastCommand",
    (SELECT json_agg(one ORDER BY one.number) FROM (
      SELECT ${EARLIER} FROM task_commands c WHERE c.task_id = t.id AND NOT c.told ORDER BY c.number DESC LIMIT 20) one) AS commands`;

/** How a task `t` stands to the tasks above it and below it. */
const FAMILY = raw(`CASE WHEN t.parent_task_id IS NULL THEN 0
      WHEN (SELECT p.parent_task_id FROM tasks p WHERE p.id = t.parent_task_id) IS NULL THEN 1 ELSE 2 END AS depth,
    CASE WHEN t.children > 0 THEN (SELECT count(*)::int FROM task_children c WHERE c.parent_id = t.id AND c.turn = t.turn) ELSE 0 END AS made,
    CASE WHEN t.parent_task_id IS NOT NULL THEN (
      SELECT json_build_object('steps', c.reserved_steps, 'tokens', c.reserved_tokens, 'costMicros', c.reserved_cost_micros)
      FROM task_children c WHERE c.task_id = t.id AND c.settled_at IS NULL) END AS share`);

/** The checks of a task as they are now. */
export const CHECKS_NOW = sql`
SELECT ${columns(Task, 't', ['checks'])}, ${FOR_CHECKS} FROM tasks t WHERE t.id = ${TASK_ID}`.rows<
  Pick<TaskInput, 'checks' | keyof ForChecks>
>();

/**
 * Each message is a row of its own: the driver reads it when it has arrived, so that the event loop turns between the pieces of a
 * long history. In one JSON value, 100 messages of 200,000 characters were one parse of 0.1 to 0.4 s. Rows of JSON for the reason of docs/decisions/0017.
 */
export const LOAD = sql`
WITH task AS (
  SELECT ${TASK},
    (SELECT json_agg(file ORDER BY file.path) FROM (
      SELECT ${ATTACHMENT} FROM files f WHERE f.task_id = t.id AND f.path IS NOT NULL AND NOT ${UNREAD}) file) AS files,
    (SELECT json_agg(file ORDER BY file."createdAt", file.id) FROM (
      SELECT ${PROJECT_FILE} FROM files f WHERE f.project_id = t.project_id AND f.origin = 'project') file) AS project,
    (SELECT json_agg(cut ORDER BY cut.seq) FROM (
      SELECT DISTINCT ON (c.kind) ${CUT} FROM context_cuts c WHERE c.task_id = t.id ORDER BY c.kind, c.seq DESC) cut) AS cuts,
    CASE WHEN t.mcp_servers <> '{}' THEN (SELECT o.offer FROM mcp_offers o WHERE o.task_id = t.id) END AS offer,
    CASE WHEN t.repository IS NOT NULL OR t.mcp_servers <> '{}' THEN (SELECT w.slug FROM workspaces w WHERE w.id = t.workspace_id) END AS workspace,
    ${NETWORK} AS network,
    ${ZIPS_OF_TASK} AS skills,
    CASE WHEN t.web AND ${bool('web')} THEN (
      SELECT count(*)::int FROM messages k JOIN tool_invocations v ON v.message_id = k.id
      WHERE k.task_id = t.id AND k.turn = t.turn AND v.state IN ('success', 'error') AND translate(lower(v.name), '_-.:/', '') IN ('webfetch', 'millwrightwebfetch', 'mcpmillwrightwebfetch')) END AS fetched,
    CASE WHEN coalesce(t.automation_run_id, (t.child_of ->> 'automationRunId')::uuid) IS NOT NULL THEN (
      SELECT a.secrets FROM automation_runs r JOIN automations a ON a.id = r.automation_id
      WHERE r.id = coalesce(t.automation_run_id, (t.child_of ->> 'automationRunId')::uuid))
    END AS "secretNames",
    (SELECT row_to_json(d) FROM (
      SELECT e.id, e.slug, v.version, v.definition, t.repository ->> 'url' AS "repositoryUrl" FROM environments e JOIN environment_versions v ON v.environment_id = e.id
      WHERE e.id = t.environment_id AND v.version = t.environment_version) d) AS environment,
    ${FAMILY},
    CASE WHEN t.agent_id IS NOT NULL THEN (
      SELECT json_build_object('instructions', v.definition -> 'instructions', 'deny', v.definition -> 'tools' -> 'deny')
      FROM agent_versions v WHERE v.agent_id = t.agent_id AND v.version = t.agent_version) END AS agent,
    t.child_of -> 'deny' AS "deniedAbove",
    ${FOR_CHECKS}, ${COMMANDS},
    (SELECT s.manifest FROM snapshots s WHERE s.task_id = t.id ORDER BY s.created_at DESC, s.id DESC LIMIT 1) AS snapshot,
    ${above(raw('t.workspace_id'), raw('0'))} AS above,
    ${exhausted(raw('t.workspace_id'), raw('t.model'), underWay('t'))} AS exhausted
  FROM tasks t WHERE t.id = ${TASK_ID})
SELECT row_to_json(task) AS task, NULL::json AS message FROM task
UNION ALL
SELECT NULL, row_to_json(message) FROM (
  SELECT ${MESSAGE}, ${INVOCATIONS} FROM messages m WHERE m.task_id = ${TASK_ID} AND m.read_seq IS NOT NULL) message`.rows<LoadedRow>();
