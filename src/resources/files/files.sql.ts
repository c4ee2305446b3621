// The statements of durable files. Locks are taken in the order project, task, upload, file.
import { USER, visible, WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { raw, sql, texts, uuid, uuids } from '../../platform/database/sql.js';
import { newestFirst } from '../../platform/http/pages.js';
import { StoredFile } from './file.entity.js';

export const FILE = columns(StoredFile, 'f', [
  'id',
  'workspaceId',
  'taskId',
  'projectId',
  'origin',
  'name',
  'path',
  'mediaType',
  'size',
  'sha256',
  'createdById',
  'createdAt',
]);

/** A file with the name of its creator. */
export type FileRow = typeof FILE.row & { createdByName: string };

/** Files `f` as {@link FileRow}s; joins and conditions follow. */
export const SELECT_FILE = sql`SELECT ${FILE}, u.name AS "createdByName" FROM files f JOIN users u ON u.id = f.created_by`;

/** What is kept for a model alone, or for a skill, is no file for clients. */
const IS_FILE = raw(`f.origin NOT IN ('shown', 'skill')`);

/** One that the caller sees: who sees a task sees its files (reference §3). */
const SEEN = sql`LEFT JOIN tasks t ON t.id = f.task_id
CROSS JOIN LATERAL (SELECT f.workspace_id, coalesce(t.project_id, f.project_id) AS project_id,
  coalesce(t.created_by, f.created_by) AS created_by) owned
WHERE f.id = ${uuid('id')} AND ${IS_FILE} AND ${visible('owned')}`;

/** A file that the caller sees. */
export const GET = sql`${SELECT_FILE} ${SEEN}`.rows<FileRow>();

/** What is left of projects that are gone. */
const UNGROUPED = raw(`f.origin = 'project' AND f.project_id IS NULL`);

/** As {@link GET}, and nobody else deletes it until the transaction ends. */
export const LOCK = sql`SELECT ${UNGROUPED} AS ungrouped FROM files f ${SEEN} FOR UPDATE OF f`.rows<{
  ungrouped: boolean;
}>();

/** Files of deleted projects that the caller sees. */
export const PAGE_UNGROUPED = sql`${SELECT_FILE}
WHERE ${visible('f')} AND ${UNGROUPED} ${newestFirst('f')}`.rows<FileRow>();

/** Of a task that the caller sees. */
export const PAGE_OF_TASK = sql`${SELECT_FILE} JOIN tasks t ON t.id = f.task_id
WHERE ${visible('t')} AND f.task_id = ${uuid('taskId')} AND ${IS_FILE} ${newestFirst('f')}`.rows<FileRow>();

/**
 * The caller's own uploads among some, with the paths that the attachments of the task have already. KEY SHARE keeps the
 * uploads from being purged until the files that need their bytes are on record.
 */
export const CLAIMABLE = sql`
SELECT id, name, (SELECT array_agg(path) FROM files WHERE task_id = ${uuid('taskId')} AND path IS NOT NULL) AS taken
FROM uploads WHERE id = ANY(${uuids('uploadIds')}) AND workspace_id = ${WORKSPACE} AND user_id = ${USER} AND expires_at > now()
FOR KEY SHARE`.rows<{ id: string; name: string; taken: string[] | null }>();

/** `ids`, `uploadIds` and `paths`: one of each for every file that is made. */
export const CLAIM = sql`
INSERT INTO files AS f (id, workspace_id, task_id, origin, name, path, media_type, size, sha256, created_by)
SELECT c.id, u.workspace_id, ${uuid('taskId')}, 'attachment', u.name, c.path, u.media_type, u.size, u.sha256, u.user_id
FROM unnest(${uuids('ids')}, ${uuids('uploadIds')}, ${texts('paths')}) AS c(id, upload_id, path) JOIN uploads u ON u.id = c.upload_id
RETURNING ${FILE}`.rows<typeof FILE.row>();

const ENTRY = columns(StoredFile, 'f', ['workspaceId', 'origin', 'name', 'path', 'size', 'sha256', 'createdAt']);
/** What an archive needs of a file. */
export type ArchivedFile = typeof ENTRY.row;

/** More needs records that the writer of archives makes for large ones alone, and unzip(1) then refuses the archive. */
export const MAX_ARCHIVED = 65_534;

/**
 * A task that the caller sees, with its files, oldest first: a row for each, at most one more than {@link MAX_ARCHIVED}; one row of a task
 * without any, whose file is all null.
 */
export const OF_ARCHIVE = sql`
SELECT t.title, ${ENTRY} FROM tasks t LEFT JOIN files f ON f.task_id = t.id AND ${IS_FILE}
WHERE ${visible('t')} AND t.id = ${uuid('taskId')} ORDER BY f.created_at, f.id LIMIT ${raw(String(MAX_ARCHIVED + 1))}`.rows<
  { title: string } & (ArchivedFile | Record<keyof ArchivedFile, null>)
>();
