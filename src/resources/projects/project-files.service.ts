import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { recordStream } from '../../access/audit/sender.js';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { HELD_MEMBER, USER, VISIBLE_PROJECT, WORKSPACE } from '../../access/auth/visibility.js';
import { Database } from '../../platform/database/database.js';
import { bigint, sql, text, uuid } from '../../platform/database/sql.js';
import { StoredFile } from '../files/file.entity.js';
import { FILE, type FileRow, SELECT_FILE } from '../files/files.sql.js';
import { StorageQuota } from '../files/storage-quota.js';
import { room } from '../files/storage-quota.sql.js';
import { UploadsService } from '../files/uploads.service.js';
import { notFound } from '../../platform/http/api-error.js';
import { byCreation, newestFirst, type PageRequest } from '../../platform/http/pages.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { skillPath } from './project-skills.js';
import { ProjectsService } from './projects.service.js';

// Locks are taken in the order membership, project, file.

/** Of a project that the caller sees. */
const PAGE = sql`${SELECT_FILE} JOIN projects p ON p.id = f.project_id
WHERE ${VISIBLE_PROJECT} AND f.project_id = ${uuid('projectId')} AND f.origin = 'project' ${newestFirst('f')}`.rows<FileRow>();

const SIZE = bigint('size');
/**
 * The caller saw the project before the bytes came. No row when the project is gone or hidden by now, the caller is no
 * member any more, or the bytes do not fit.
 */
const ADD = sql`
WITH ${HELD_MEMBER},
project AS (SELECT p.id FROM projects p WHERE ${VISIBLE_PROJECT} AND p.id = ${uuid('projectId')} FOR KEY SHARE),
${room(WORKSPACE, SIZE)}
INSERT INTO files AS f (id, workspace_id, project_id, origin, name, media_type, size, sha256, created_by)
SELECT ${uuid('id')}, ${WORKSPACE}, project.id, 'project', ${text('name')}, ${text('mediaType')}, ${SIZE},
  ${text('sha256')}, ${USER} FROM member, project, room
RETURNING ${FILE}`.rows<typeof FILE.row>();

/** Keeps the project from being deleted. `createdById` is null when the project has no such file. */
const LOCK = sql`
SELECT f.created_by AS "createdById", p.owner_id AS "ownerId"
FROM projects p LEFT JOIN files f ON f.project_id = p.id AND f.origin = 'project' AND f.id = ${uuid('id')}
WHERE ${VISIBLE_PROJECT} AND p.id = ${uuid('projectId')} FOR KEY SHARE OF p`.rows<{
  createdById: string | null;
  ownerId: string;
}>();

/** Files that all tasks of a project can read (reference §7). */
@Injectable()
export class ProjectFilesService {
  constructor(
    private readonly projects: ProjectsService,
    private readonly uploads: UploadsService,
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly quota: StorageQuota,
  ) {}

  /** Newest first. */
  async list(auth: AuthContext, projectId: string, page: PageRequest) {
    const rows = isUuid(projectId) ? await this.database.read.run(PAGE({ auth, projectId, ...page.place })) : [];
    // Without a row the project has no file, or the caller does not see it.
    if (rows.length === 0 && !(await this.projects.sees(auth, projectId))) throw notFound('project');
    return page.cut(rows, byCreation);
  }

  /** Takes in a form with one file. A form that is wrong in itself is refused as such, before an unknown project. */
  async add(auth: AuthContext, projectId: string, request: Request): Promise<FileRow> {
    if (!(await this.projects.sees(auth, projectId))) {
      await this.uploads.discard(request);
      throw notFound('project');
    }
    return this.uploads.receive(auth, request, async (stored) => {
      const { limits } = this.quota;
      const row = await this.transactions.open(async (tx) => {
        const name = skillPath(stored.sentAs) ?? stored.name;
        const [made] = await tx.run(ADD({ auth, limits, projectId, id: newId(), ...stored, name }));
        if (made !== undefined) await recordStream(tx, request, 'file.create', { type: 'file', id: made.id });
        return made;
      });
      if (row !== undefined) return { ...row, createdByName: auth.user.name };
      if (await this.projects.sees(auth, projectId)) throw await this.quota.refusal(auth.workspaceId, stored.size);
      throw notFound('project');
    });
  }

  /** Deletes a file for good. Throws 403 unless the caller uploaded it, or owns the project or the workspace. */
  async remove(auth: AuthContext, tx: UnitOfWork, projectId: string, fileId: string): Promise<void> {
    const known = isUuid(projectId) && isUuid(fileId);
    const [found] = known ? await tx.run(LOCK({ auth, projectId, id: fileId })) : [];
    if (found?.createdById == null) throw notFound('file');
    if (found.createdById !== auth.userId) auth.requireOwnership(found.ownerId, 'file');
    // None when another request has deleted it.
    const { affected } = await tx.manager.getRepository(StoredFile).delete({ id: fileId });
    if (affected !== 1) throw notFound('file');
  }
}
