// What a claimed run begins with: the task, its files and its messages in one statement.
import { columns } from '../../platform/database/columns.js';
import { raw, sql, uuid } from '../../platform/database/sql.js';
import { underWay } from '../../resources/billing/meter.sql.js';
import { exhausted, type WindowState } from '../../resources/billing/usage.sql.js';
import { above, type StorageUsed } from '../../resources/files/storage-quota.sql.js';
import { StoredFile } from '../../resources/files/file.entity.js';
import { Message } from '../../resources/tasks/messages/message.entity.js';
import { type InvocationRow, INVOCATIONS } from '../../resources/tasks/messages/message.sql.js';
import { Task } from '../../resources/tasks/task.entity.js';

const TASK = columns(Task, 't', [
  'createdById',
  'effort',
  'approvals',
  'approvedTools',
  'budget',
  'turnSteps',
  'turnTokens',
  'turnDurationMs',
  'turnCostMicros',
]);
const MESSAGE = columns(Message, 'm', ['id', 'role', 'parts', 'readSeq']);
const ATTACHMENT = columns(StoredFile, 'f', ['path', 'sha256']);
const PROJECT_FILE = columns(StoredFile, 'f', ['name', 'sha256', 'createdAt', 'id']);

export type MessageInput = typeof MESSAGE.row & { invocations: InvocationRow[] | null };

/** One row has the task, each of the others a message of it, in any order. */
export type LoadedRow = { task: TaskInput; message: null } | { task: null; message: MessageInput };

export type TaskInput = typeof TASK.row & {
  files: { path: string; sha256: string }[] | null;
  project: Pick<StoredFile, 'name' | 'sha256'>[] | null;
  above: StorageUsed | null;
  exhausted: WindowState | null;
};

const TASK_ID = uuid('taskId');

/**
 * Each message is a row of its own: the driver reads it when it has arrived, so that the event loop turns between the pieces of a
 * long history. In one JSON value, 100 messages of 200,000 characters were one parse of 0.1 to 0.4 s. Rows of JSON for the reason of docs/decisions/0017.
 */
export const LOAD = sql`
WITH task AS (
  SELECT ${TASK},
    (SELECT json_agg(file ORDER BY file.path) FROM (
      SELECT ${ATTACHMENT} FROM files f WHERE f.task_id = t.id AND f.path IS NOT NULL) file) AS files,
    (SELECT json_agg(file ORDER BY file."createdAt", file.id) FROM (
      SELECT ${PROJECT_FILE} FROM files f WHERE f.project_id = t.project_id AND f.origin = 'project') file) AS project,
    ${above(raw('t.workspace_id'), raw('0'))} AS above,
    ${exhausted(raw('t.workspace_id'), raw('t.model'), underWay('t'))} AS exhausted
  FROM tasks t WHERE t.id = ${TASK_ID})
SELECT row_to_json(task) AS task, NULL::json AS message FROM task
UNION ALL
SELECT NULL, row_to_json(message) FROM (
  SELECT ${MESSAGE}, ${INVOCATIONS} FROM messages m WHERE m.task_id = ${TASK_ID} AND m.read_seq IS NOT NULL) message`.rows<LoadedRow>();
