import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { FileIntake } from '../files/file-intake.js';
import { FILE_COLUMNS, FILE_SELECT, type FileRow } from '../files/file.row.js';
import { notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageQuery, Pages } from '../../platform/http/pages.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { ProjectsService } from './projects.service.js';
import { MEMBER, PROJECT_SEEN, scope } from '../../access/auth/visibility.js';

const PAGE = `${FILE_SELECT}
WHERE f.project_id = $1 AND f.origin = 'project' AND ($2::timestamptz IS NULL OR (f.created_at, f.id) < ($2, $3::uuid))
ORDER BY f.created_at DESC, f.id DESC LIMIT $4`;

// The project was seen before the bytes came; by now it may be gone or closed, or the uploader may be no member.
const ADD = `
WITH ${MEMBER},
project AS (
  SELECT p.id FROM projects p WHERE p.workspace_id = $1 AND ${PROJECT_SEEN} AND p.id = $4 FOR KEY SHARE)
INSERT INTO files AS f (id, workspace_id, project_id, origin, name, media_type, size, sha256, created_by)
SELECT $5::uuid, $1::uuid, project.id, 'project', $6, $7, $8::bigint, $9, $2::uuid FROM member, project
RETURNING ${FILE_COLUMNS}`;

const LOCK = `
WITH ${MEMBER}
SELECT f.created_by AS "createdBy", p.owner_id AS "ownerId"
FROM member CROSS JOIN projects p LEFT JOIN files f ON f.project_id = p.id AND f.origin = 'project' AND f.id = $5
WHERE p.workspace_id = $1 AND ${PROJECT_SEEN} AND p.id = $4 FOR KEY SHARE OF p`;

/** Files that all tasks of a project can read (reference §7). */
@Injectable()
export class ProjectFilesService {
  constructor(
    private readonly projects: ProjectsService,
    private readonly intake: FileIntake,
    private readonly database: Database,
    private readonly pages: Pages,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  /** Newest first. */
  async list(auth: AuthContext, projectId: string, query: PageQuery) {
    const { workspaceId, userId } = auth;
    const route = `GET /v1/projects/${projectId}/files`;
    const page = this.pages.open(query, { route, workspaceId, userId, filters: {} });
    const { id } = await this.projects.get(auth, projectId);
    const [createdAt = null, fileId = null] = page.after ?? [];
    const values = [id, createdAt, fileId, page.limit + 1];
    const { rows } = await this.database.read.query<FileRow>({ name: 'files-of-project', text: PAGE, values });
    return page.cut(rows, byCreation);
  }

  /** Takes in a form with one file. A form that is wrong in itself is refused as such, before an unknown project. */
  async add(auth: AuthContext, projectId: string, request: IncomingMessage): Promise<FileRow> {
    if (!(await this.projects.sees(auth, projectId))) {
      await this.intake.discard(request);
      throw notFound('project');
    }
    const { name, mediaType, size, sha256 } = await this.intake.receive(auth.workspaceId, request);
    const values = [...scope(auth), projectId, newId(), name, mediaType, size, sha256];
    const [row] = await this.dataSource.query<FileRow[]>(ADD, values);
    if (row === undefined) throw notFound('project');
    return { ...row, createdByName: auth.user.name };
  }

  /** Deletes a file for good. Throws 403 unless the caller uploaded it, or owns the project or the workspace. */
  async remove(auth: AuthContext, tx: UnitOfWork, projectId: string, fileId: string): Promise<void> {
    const values = [...scope(auth), projectId, fileId];
    type Found = { createdBy: string | null; ownerId: string };
    const [found] = isUuid(projectId) && isUuid(fileId) ? await tx.query<Found>(LOCK, values) : [];
    if (found?.createdBy == null) throw notFound('file');
    if (found.createdBy !== auth.userId) auth.requireOwnership(found.ownerId, 'file');
    const gone = await tx.query(`DELETE FROM files WHERE id = $1 RETURNING id`, [fileId]);
    if (gone.length === 0) throw notFound('file');
  }
}
