import { Injectable } from '@nestjs/common';
import type { Actor, AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { StoredFile } from './file.entity.js';
import { freeName } from './file-name.js';
import {
  type ArchivedFile,
  CLAIM,
  CLAIMABLE,
  type FileRow,
  GET,
  LOCK,
  MAX_ARCHIVED,
  OF_ARCHIVE,
  PAGE_OF_TASK,
  PAGE_UNGROUPED,
} from './files.sql.js';

/** Where attachments lie in the workdir. */
const FOLDER = 'attachments/';

@Injectable()
export class FilesService {
  constructor(private readonly database: Database) {}

  /**
   * Makes a durable file of the task for each referenced upload, in the caller's transaction, in the order given; the same
   * upload may be referenced repeatedly. The caller holds the lock of the task's row (or has just made it), because equal
   * names are told apart by what the task has already. Throws `invalid_upload` for the first reference that is malformed,
   * unknown, somebody else's or expired.
   */
  async claimUploads(tx: UnitOfWork, auth: Actor, taskId: string, given: readonly string[]): Promise<FileRow[]> {
    if (given.length === 0) return [];
    // As the database spells them.
    const uploadIds = given.map((id) => id.toLowerCase());
    const known = uploadIds.filter((id) => isUuid(id));
    const found = await tx.run(CLAIMABLE({ auth, taskId, uploadIds: known }));
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
    const made = await tx.run(CLAIM({ taskId, ids, uploadIds, paths }));
    const byId = new Map(made.map((row) => [row.id, { ...row, createdByName: auth.user.name }]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** One page of a task's files, attachments and published ones, newest first; of a task that the caller does not see, none. */
  async pageOfTask(auth: AuthContext, taskId: string, page: PageRequest) {
    const rows = isUuid(taskId) ? await this.database.read.run(PAGE_OF_TASK({ auth, taskId, ...page.place })) : [];
    return page.cut(rows, byCreation);
  }

  /** All files of a task, oldest first, with the task's title. Throws 404 unless the caller sees the task, and 413 for too many. */
  async ofArchive(auth: AuthContext, taskId: string): Promise<{ title: string; files: ArchivedFile[] }> {
    const rows = isUuid(taskId) ? await this.database.read.run(OF_ARCHIVE({ auth, taskId })) : [];
    const [first] = rows;
    if (first === undefined) throw notFound('task');
    if (rows.length > MAX_ARCHIVED) {
      const most = MAX_ARCHIVED.toLocaleString('en');
      throw new ApiError(
        'too_large',
        `An archive holds at most ${most} files, and the task has more: download them one by one.`,
      );
    }
    return { title: first.title, files: rows.flatMap((row) => (row.sha256 === null ? [] : row)) };
  }

  /** One page of what is left of deleted projects, newest first. */
  async pageUngrouped(auth: AuthContext, page: PageRequest) {
    return page.cut(await this.database.read.run(PAGE_UNGROUPED({ auth, ...page.place })), byCreation);
  }

  /** Deletes a file of a deleted project for good; who sees it may. Throws 404, and 409 `file_in_use` for any other. */
  async removeUngrouped(auth: AuthContext, tx: UnitOfWork, fileId: string): Promise<void> {
    const [found] = isUuid(fileId) ? await tx.run(LOCK({ auth, id: fileId })) : [];
    if (found === undefined) throw notFound('file');
    if (!found.ungrouped) {
      const words =
        'Only files of deleted projects are deleted here: those of a task go with it, those of a project are removed from it.';
      throw new ApiError('file_in_use', words);
    }
    // The trigger on files counts its bytes out.
    await tx.manager.getRepository(StoredFile).delete({ id: fileId });
  }

  /** A file that the caller may see. Throws 404 for any other. */
  async get(auth: AuthContext, fileId: string): Promise<FileRow> {
    const [row] = isUuid(fileId) ? await this.database.read.run(GET({ auth, id: fileId })) : [];
    if (row === undefined) throw notFound('file');
    return row;
  }
}

function invalidUpload(index: number): ApiError {
  return new ApiError('invalid_upload', 'There is no such upload, or it has expired: upload the file again.', {
    param: `attachments[${index}].uploadId`,
  });
}
