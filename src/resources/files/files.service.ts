import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { scope, seen } from '../../access/auth/visibility.js';
import { freeName } from './file-name.js';
import { FILE_COLUMNS, FILE_SELECT, type FileRow } from './file.row.js';

/** Where attachments lie in the workdir. */
const FOLDER = 'attachments/';

// KEY SHARE keeps the uploads from being purged until the files that need their bytes are on record.
const CLAIMABLE = `
SELECT id, name, (SELECT array_agg(path) FROM files WHERE task_id = $4 AND path IS NOT NULL) AS taken
FROM uploads WHERE id = ANY($1::uuid[]) AND workspace_id = $2 AND user_id = $3 AND expires_at > now() FOR KEY SHARE`;

const CLAIM = `
INSERT INTO files AS f (id, workspace_id, task_id, origin, name, path, media_type, size, sha256, created_by)
SELECT c.id, u.workspace_id, $1, 'attachment', u.name, c.path, u.media_type, u.size, u.sha256, u.user_id
FROM unnest($2::uuid[], $3::uuid[], $4::text[]) AS c(id, upload_id, path) JOIN uploads u ON u.id = c.upload_id
RETURNING ${FILE_COLUMNS}`;

// A file of a task is seen by whoever sees the task (reference §3).
const VISIBLE = `${FILE_SELECT} LEFT JOIN tasks t ON t.id = f.task_id
WHERE f.workspace_id = $1 AND f.id = $4
  AND ${seen('coalesce(t.project_id, f.project_id)', 'coalesce(t.created_by, f.created_by)')}`;

const PAGE = `${FILE_SELECT}
WHERE f.task_id = $1 AND ($2::timestamptz IS NULL OR (f.created_at, f.id) < ($2, $3::uuid))
ORDER BY f.created_at DESC, f.id DESC LIMIT $4`;

interface Claimable {
  id: string;
  name: string;
  taken: string[] | null;
}

@Injectable()
export class FilesService {
  constructor(private readonly database: Database) {}

  /**
   * Makes a durable file of the task for each referenced upload, in the caller's transaction, in the order given; the same
   * upload may be referenced repeatedly. The caller holds the lock of the task's row (or has just made it), because equal
   * names are told apart by what the task has already. Throws `invalid_upload` for the first reference that is malformed,
   * unknown, somebody else's or expired.
   */
  async claimUploads(tx: UnitOfWork, auth: AuthContext, taskId: string, given: readonly string[]): Promise<FileRow[]> {
    if (given.length === 0) return [];
    // As the database spells them.
    const uploadIds = given.map((id) => id.toLowerCase());
    const known = uploadIds.filter((id) => isUuid(id));
    const found = await tx.query<Claimable>(CLAIMABLE, [known, auth.workspaceId, auth.userId, taskId]);
    const names = new Map(found.map(({ id, name }) => [id, name]));
    const taken = new Set(found[0]?.taken?.map((path) => path.slice(FOLDER.length)));
    const paths = uploadIds.map((uploadId, index) => {
      const name = names.get(uploadId);
      if (name === undefined) throw invalidUpload(index);
      const free = freeName(name, taken);
      taken.add(free);
      return FOLDER + free;
    });
    const ids = uploadIds.map(() => newId());
    const made = await tx.query<FileRow>(CLAIM, [taskId, ids, uploadIds, paths]);
    const byId = new Map(made.map((row) => [row.id, { ...row, createdByName: auth.user.name }]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** One page of a task's files, attachments and published ones, newest first. The caller has checked that it is seen. */
  async pageOfTask(taskId: string, page: PageRequest): Promise<{ rows: FileRow[]; nextCursor: string | null }> {
    const [createdAt = null, id = null] = page.after ?? [];
    const rows = await this.read('files-of-task', PAGE, [taskId, createdAt, id, page.limit + 1]);
    return page.cut(rows, byCreation);
  }

  /** A file that the caller may see. Throws 404 for any other. */
  async get(auth: AuthContext, fileId: string): Promise<FileRow> {
    if (!isUuid(fileId)) throw notFound('file');
    const [row] = await this.read('file', VISIBLE, [...scope(auth), fileId]);
    if (row === undefined) throw notFound('file');
    return row;
  }

  private async read(name: string, text: string, values: unknown[]): Promise<FileRow[]> {
    return (await this.database.read.query<FileRow>({ name, text, values })).rows;
  }
}

function invalidUpload(index: number): ApiError {
  return new ApiError('invalid_upload', 'There is no such upload, or it has expired: upload the file again.', {
    param: `attachments[${index}].uploadId`,
  });
}
