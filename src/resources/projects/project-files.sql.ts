// The statements of a project's files. Locks are taken in the order membership, project, file.
import { HELD_MEMBER, USER, VISIBLE_PROJECT, WORKSPACE } from '../../access/auth/visibility.js';
import { bigint, int, sql, text, timeOrNull, uuid, uuidOrNull } from '../../platform/database/sql.js';
import { FILE, type FileRow, SELECT_FILE } from '../files/files.sql.js';
import { room } from '../files/storage-quota.sql.js';

/** Of a project that the caller sees. `createdAt` and `id`: the row after which the page begins, null for the first page. */
export const PAGE = sql`${SELECT_FILE} JOIN projects p ON p.id = f.project_id
WHERE ${VISIBLE_PROJECT} AND f.project_id = ${uuid('projectId')} AND f.origin = 'project' AND (${timeOrNull('createdAt')} IS NULL
  OR (f.created_at, f.id) < (${timeOrNull('createdAt')}, ${uuidOrNull('id')}))
ORDER BY f.created_at DESC, f.id DESC LIMIT ${int('limit')}`.rows<FileRow>();

const SIZE = bigint('size');
/**
 * The caller saw the project before the bytes came. No row when the project is gone or hidden by now, the caller is no
 * member any more, or the bytes do not fit.
 */
export const ADD = sql`
WITH ${HELD_MEMBER},
project AS (SELECT p.id FROM projects p WHERE ${VISIBLE_PROJECT} AND p.id = ${uuid('projectId')} FOR KEY SHARE),
${room(WORKSPACE, SIZE)}
INSERT INTO files AS f (id, workspace_id, project_id, origin, name, media_type, size, sha256, created_by)
SELECT ${uuid('id')}, ${WORKSPACE}, project.id, 'project', ${text('name')}, ${text('mediaType')}, ${SIZE},
  ${text('sha256')}, ${USER} FROM member, project, room
RETURNING ${FILE}`.rows<typeof FILE.row>();

/** Keeps the project from being deleted. `createdById` is null when the project has no such file. */
export const LOCK = sql`
SELECT f.created_by AS "createdById", p.owner_id AS "ownerId"
FROM projects p LEFT JOIN files f ON f.project_id = p.id AND f.origin = 'project' AND f.id = ${uuid('id')}
WHERE ${VISIBLE_PROJECT} AND p.id = ${uuid('projectId')} FOR KEY SHARE OF p`.rows<{
  createdById: string | null;
  ownerId: string;
}>();

/** No row when another request has deleted the file. */
export const DELETE = sql`DELETE FROM files WHERE id = ${uuid('id')} RETURNING id`.rows<{ id: string }>();
