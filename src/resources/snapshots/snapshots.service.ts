import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { bytesOf, fileOf, folderOf, type FolderEntry } from '../../engine/snapshots/manifest-reader.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import { notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import type { ServedContent } from '../files/file-content.js';
import { cleanName } from '../files/file-name.js';
import type { ByteRange } from '../files/storage/storage-driver.js';
import { TaskAccess } from '../tasks/task-access.js';
import { SnapshotStore } from './snapshot-store.js';
import { typeOf } from './snapshot.view.js';
import type { ListWorkdirQuery, WorkdirContentQuery } from './snapshots.dto.js';
import { GET, PAGE, type SnapshotRow } from './snapshots.sql.js';

/** Where the roots of a snapshot lie for the agent. */
const ROOTS = [
  ['/workdir', 'workdir'],
  ['/tmp', 'tmp'],
  ['/home/agent', 'home'],
] as const;

/** Reads snapshots for clients. Who sees a task sees its snapshots. */
@Injectable()
export class SnapshotsService {
  constructor(
    private readonly database: Database,
    private readonly tasks: TaskAccess,
    private readonly store: SnapshotStore,
  ) {}

  /** One page, newest first. Throws 404 unless the caller sees the task. */
  async list(auth: AuthContext, taskId: string, page: PageRequest) {
    const rows = isUuid(taskId) ? await this.database.read.run(PAGE({ auth, taskId, ...page.place })) : [];
    if (rows.length === 0) await this.tasks.check(auth, taskId);
    return page.cut(rows, byCreation);
  }

  /** One page of a folder. Before the first snapshot `/workdir` is empty. Throws 404 `not_found` for task, snapshot and folder. */
  async folder(auth: AuthContext, taskId: string, page: PageRequest<ListWorkdirQuery>) {
    const { path = '', snapshot: id } = page.query;
    const place = placeOf(path);
    const snapshot = await this.find(auth, taskId, id);
    if (snapshot === null) {
      if (place?.path !== 'workdir') throw notFound('folder');
      return { rows: [] as FolderEntry[], nextCursor: null, snapshot, within: '' };
    }
    const at = { path: place?.path ?? '', after: page.after?.[0] ?? null, limit: page.limit + 1 };
    const rows = await folderOf(await this.manifest(auth, snapshot), at, auth.workspaceId);
    if (rows === null || place === null) throw notFound('folder');
    return { ...page.cut(rows, ({ name }) => [name]), snapshot, within: place.within };
  }

  /** A file, and how its bytes are read; `open` rejects when the first of them cannot be. Throws 404 `not_found` for task, snapshot and file. */
  async content(
    auth: AuthContext,
    taskId: string,
    { path = '', snapshot: id }: WorkdirContentQuery,
  ): Promise<ServedContent & { open: (range?: ByteRange) => Promise<Readable> }> {
    const place = placeOf(path);
    const snapshot = await this.find(auth, taskId, id);
    if (snapshot === null || place === null) throw notFound('file');
    const file = await fileOf(await this.manifest(auth, snapshot), place.path, auth.workspaceId);
    if (file === null) throw notFound('file');
    const { size, name, sha256 } = file;
    const read = (object: string, start: number, length: number) =>
      this.store.open(auth.workspaceId, object, { start, end: start + length - 1 });
    const open = (range: ByteRange = { start: 0, end: size - 1 }) => begun(bytesOf(file, range, read));
    // The agent sets the time of a file as it likes: what has changed may look older than what a client has.
    const { createdAt } = snapshot;
    return { id: snapshot.id, size, name: cleanName(name), sha256, mediaType: typeOf(name), createdAt, open };
  }

  private async find(auth: AuthContext, taskId: string, id: string | undefined) {
    const known = isUuid(taskId) && (id === undefined || isUuid(id));
    const [found = null] = known ? await this.database.read.run(GET({ auth, taskId, id: id ?? null })) : [];
    if (found !== null) return found;
    await this.tasks.check(auth, taskId);
    if (id !== undefined) throw notFound('snapshot');
    return null;
  }

  private async manifest({ workspaceId }: AuthContext, { manifest }: SnapshotRow & { manifest: string }) {
    return { sha256: manifest, bytes: await this.store.open(workspaceId, manifest) };
  }
}

/** Resolves when the first piece is there: what is gone, or cannot be reached, is told before the answer begins. */
async function begun(pieces: AsyncGenerator<Buffer, void>): Promise<Readable> {
  const first = await pieces.next();
  const all = async function* () {
    if (first.done === true) return;
    yield first.value;
    yield* pieces;
  };
  return Readable.from(all());
}

/** The path in a manifest, and how the paths of its entries begin for clients; null when it leads out. */
function placeOf(path: string): { path: string; within: string } | null {
  const full = posix.resolve('/workdir', path);
  for (const [inside, root] of ROOTS) {
    if (full !== inside && !full.startsWith(`${inside}/`)) continue;
    const rest = full.slice(inside.length + 1);
    const within = root === 'workdir' ? rest : full;
    return { path: rest === '' ? root : `${root}/${rest}`, within: within === '' ? '' : `${within}/` };
  }
  return null;
}
