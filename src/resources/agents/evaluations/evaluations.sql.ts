// How an evaluation is kept and read, and what a task that there was began with.
import { SEES_EVERYTHING, USER, visible, WORKSPACE } from '../../../access/auth/visibility.js';
import type { TaskChecks } from '../../../engine/checks/check.js';
import { columns } from '../../../platform/database/columns.js';
import { NEW_ID } from '../../../platform/database/ids.js';
import { jsonb, raw, sql, uuid, uuids } from '../../../platform/database/sql.js';
import { Task } from '../../tasks/task.entity.js';
import { NETWORK } from '../../tasks/task.sql.js';
import { type Figures, figuresOf } from '../figures.sql.js';
import { Evaluation } from './evaluation.entity.js';

const SOURCE = columns(Task, 't', ['id', 'title', 'projectId', 'repository', 'outputSchema', 'web']);
const SOURCE_ID = uuid('sourceId');

/** A task that the caller sees, as it began. `text`: of its first message. */
export const ORIGINAL = sql`
SELECT ${SOURCE}, t.checks AS "checks", (
    SELECT string_agg(p.part ->> 'text', E'\n\n' ORDER BY p.n) FROM jsonb_array_elements(m.parts) WITH ORDINALITY AS p(part, n)
    WHERE p.part ->> 'type' = 'text') AS text,
  CASE WHEN t.environment_id IS NOT NULL THEN (
    SELECT jsonb_build_object('slug', e.slug, 'version', t.environment_version) FROM environments e WHERE e.id = t.environment_id) END AS environment
FROM tasks t LEFT JOIN LATERAL (
  SELECT parts FROM messages m WHERE m.task_id = t.id AND m.role = 'user' ORDER BY m.seq LIMIT 1) m ON true
WHERE ${visible('t')} AND t.id = ${SOURCE_ID}`.rows<
  typeof SOURCE.row & {
    checks: TaskChecks | null;
    text: string | null;
    environment: { slug: string; version: number } | null;
  }
>();

const TASK_ID = uuid('taskId');
const TASK_IDS = uuids('taskIds');

/** Gives a new task what was attached to the first message of another: the same bytes, named in its own first message. */
export const ATTACH_AS = sql`
WITH first AS (SELECT m.parts FROM messages m WHERE m.task_id = ${SOURCE_ID} AND m.role = 'user' ORDER BY m.seq LIMIT 1),
had AS MATERIALIZED (
  SELECT f.*, ${raw(NEW_ID)} AS new_id, p.part, p.n FROM first, jsonb_array_elements(first.parts) WITH ORDINALITY AS p(part, n)
    JOIN files f ON f.id::text = p.part ->> 'fileId' AND f.task_id = ${SOURCE_ID}
  WHERE p.part ->> 'type' = 'file'),
copied AS (
  INSERT INTO files (id, workspace_id, task_id, origin, name, path, media_type, size, sha256, turn, created_by)
  SELECT had.new_id, had.workspace_id, ${TASK_ID}, had.origin, had.name, had.path, had.media_type, had.size, had.sha256, had.turn, ${USER} FROM had)
UPDATE messages m SET parts = m.parts || (
  SELECT jsonb_agg(had.part || jsonb_build_object('fileId', had.new_id) ORDER BY had.n) FROM had)
WHERE m.task_id = ${TASK_ID} AND EXISTS (SELECT 1 FROM had)`.rows();

/**
 * What kept the original from the outside keeps these tasks too: commands of one that an event began have no network, and of what an agent has written, in
 * the place of a person, no other addresses count than before.
 */
export const KEEP_WALLS = sql`
WITH walled AS (
  UPDATE tasks n SET child_of = jsonb_build_object('isolated', true, 'automationRunId', NULL)
  FROM tasks t WHERE n.id = ANY(${TASK_IDS}) AND t.id = ${SOURCE_ID} AND NOT ${NETWORK}),
handed AS (
  SELECT p.part -> 'named' AS named
  FROM (SELECT m.parts FROM messages m WHERE m.task_id = ${SOURCE_ID} AND m.role = 'user' ORDER BY m.seq LIMIT 1) first,
    jsonb_array_elements(first.parts) AS p(part)
  WHERE p.part ->> 'type' = 'text' AND p.part -> 'named' IS NOT NULL LIMIT 1)
UPDATE messages m SET parts = jsonb_set(m.parts, '{0,named}', handed.named) FROM handed WHERE m.task_id = ANY(${TASK_IDS})`.rows();

/**
 * A task that another one has made may have begun with more than a commit: with the changes of that one, or with a copy of its folders. These begin so
 * too, also those of such a one. The patch is kept for them by a file of their own, for the one of the parent goes with it.
 */
export const BEGIN_AS = sql`
WITH source AS (SELECT t.* FROM tasks t WHERE t.id = ${SOURCE_ID}),
began AS (SELECT s.* FROM snapshots s WHERE s.task_id = ${SOURCE_ID} AND s.turn = 0 AND s.step = 0 ORDER BY s.created_at LIMIT 1),
same AS (
  UPDATE tasks n SET repository = source.repository || jsonb_build_object('push', NULL),
    environment_build_id = CASE WHEN EXISTS (SELECT 1 FROM began) THEN source.environment_build_id ELSE n.environment_build_id END
  FROM source WHERE n.id = ANY(${TASK_IDS}) AND (source.repository ->> 'patch' IS NOT NULL OR EXISTS (SELECT 1 FROM began))),
patch AS (
  INSERT INTO files (id, workspace_id, task_id, origin, name, media_type, size, sha256, created_by)
  SELECT ${raw(NEW_ID)}, f.workspace_id, n.id, f.origin, f.name, f.media_type, f.size, f.sha256, ${USER}
  FROM unnest(${TASK_IDS}) AS n(id), source CROSS JOIN LATERAL (
    SELECT f.* FROM files f WHERE f.task_id IN (source.parent_task_id, source.id) AND f.sha256 = source.repository ->> 'patch' LIMIT 1) f),
copied AS (
  INSERT INTO snapshots (id, workspace_id, task_id, turn, step, files, bytes, manifest)
  SELECT ${raw(NEW_ID)}, began.workspace_id, n.id, 0, 0, began.files, began.bytes, began.manifest FROM began, unnest(${TASK_IDS}) AS n(id)
  RETURNING id, workspace_id)
INSERT INTO snapshot_uses (snapshot_id, workspace_id, object)
SELECT copied.id, copied.workspace_id, u.object FROM copied, began JOIN snapshot_uses u ON u.snapshot_id = began.id`.rows();

/** One case in one version. */
export interface CaseTask {
  caseNo: number;
  version: number;
  attempt: number;
  taskId: string;
}

export const ADD_TASKS = sql`
INSERT INTO evaluation_tasks (evaluation_id, case_no, version, attempt, task_id)
SELECT ${uuid('id')}, x."caseNo", x.version, x.attempt, x."taskId"
FROM jsonb_to_recordset(${jsonb<CaseTask[]>()('tasks')}) AS x("caseNo" int, version int, attempt int, "taskId" uuid)`.rows();

const EVALUATION = columns(Evaluation, 'e', ['id', 'versions', 'cases', 'repeat', 'createdById', 'createdAt']);
export type EvaluationTaskRow = Omit<CaseTask, 'taskId'> & { taskId: string | null; status: string | null };
export type EvaluationRow = typeof EVALUATION.row & {
  agent: string;
  createdByName: string;
  tasks: EvaluationTaskRow[];
};

const ID = uuid('id');
const SEEN = sql`e.workspace_id = ${WORKSPACE} AND (${SEES_EVERYTHING} OR e.created_by = ${USER}) AND e.id = ${ID}`;

/** One that the caller has made; owners and admins see all. */
export const GET = sql`
SELECT ${EVALUATION}, a.slug AS agent, u.name AS "createdByName", (
    SELECT json_agg(json_build_object('caseNo', x.case_no, 'version', x.version, 'attempt', x.attempt, 'taskId', x.task_id, 'status', t.status)
      ORDER BY x.case_no, x.version, x.attempt)
    FROM evaluation_tasks x LEFT JOIN tasks t ON t.id = x.task_id WHERE x.evaluation_id = e.id) AS tasks
FROM evaluations e JOIN agents a ON a.id = e.agent_id JOIN users u ON u.id = e.created_by WHERE ${SEEN}`.rows<EvaluationRow>();

/** Of its tasks that are there. */
export const TABLE = figuresOf(sql`
  SELECT x.version, t.id, t.status, t.status_reason, t.duration_ms, t.checked, t.created_at
  FROM evaluations e JOIN evaluation_tasks x ON x.evaluation_id = e.id JOIN tasks t ON t.id = x.task_id WHERE ${SEEN}`).rows<Figures>();
