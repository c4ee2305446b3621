import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { recordStream } from '../../access/audit/sender.js';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { FileIntake } from '../files/file-intake.js';
import { StorageQuota } from '../files/storage-quota.js';
import type { FileRow } from '../files/files.sql.js';
import { notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { ProjectsService } from './projects.service.js';
import { ADD, DELETE, LOCK, PAGE } from './project-files.sql.js';

/** Files that all tasks of a project can read (reference §7). */
@Injectable()
export class ProjectFilesService {
  constructor(
    private readonly projects: ProjectsService,
    private readonly intake: FileIntake,
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly quota: StorageQuota,
  ) {}

  /** Newest first. */
  async list(auth: AuthContext, projectId: string, page: PageRequest) {
    const [createdAt = null, id = null] = page.after ?? [];
    const values = { auth, projectId, createdAt, id, limit: page.limit + 1 };
    const rows = isUuid(projectId) ? await this.database.read.run(PAGE(values)) : [];
    // Without a row the project has no file, or the caller does not see it.
    if (rows.length === 0 && !(await this.projects.sees(auth, projectId))) throw notFound('project');
    return page.cut(rows, byCreation);
  }

  /** Takes in a form with one file. A form that is wrong in itself is refused as such, before an unknown project. */
  async add(auth: AuthContext, projectId: string, request: Request): Promise<FileRow> {
    if (!(await this.projects.sees(auth, projectId))) {
      await this.intake.discard(request);
      throw notFound('project');
    }
    return this.intake.receive(auth, request, async (stored) => {
      const { limits } = this.quota;
      const row = await this.transactions.open(async (tx) => {
        const [made] = await tx.run(ADD({ auth, limits, projectId, id: newId(), ...stored }));
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
    const gone = await tx.run(DELETE({ id: fileId }));
    if (gone.length === 0) throw notFound('file');
  }
}
