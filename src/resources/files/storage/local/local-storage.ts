// Bytes on the local disk, or on a file system that all processes share.
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { DataDir } from '../../../../platform/config/data-dir.js';
import { Plugin } from '../../../../platform/plugins/plugin.js';
import {
  BytesGoneError,
  type ArrivingBytes,
  type ByteRange,
  StorageDriver,
  type StoredBytes,
} from '../storage-driver.js';
import { deleteLeftOvers, deleteUnused } from './unused-bytes.js';

/** How old half-written bytes are when their writer is gone beyond doubt. Milliseconds. */
const LEFT_OVER = 24 * 3_600_000;

/** `DATA_DIR/files/<workspace>/<first two digits>/<sha256>`: equal bytes of one workspace are stored once. */
@Plugin(StorageDriver, 'local')
export class LocalStorage extends StorageDriver {
  readonly root: string;
  /** Bytes that are still arriving. On the same file system, so that a rename ends it. */
  readonly incoming: string;

  constructor(dataDir: DataDir) {
    super();
    this.root = join(dataDir.path, 'files');
    this.incoming = join(this.root, 'incoming');
  }

  async put(workspaceId: string, content: ArrivingBytes): Promise<void> {
    const temporary = join(this.incoming, randomUUID());
    try {
      await mkdir(this.incoming, { recursive: true, mode: 0o700 });
      await write(temporary, content);
      await this.moveIntoPlace(temporary, this.pathOf(workspaceId, content.sha256));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async open(workspaceId: string, sha256: string, range?: ByteRange): Promise<{ size: number; stream: Readable }> {
    const file = await open(this.pathOf(workspaceId, sha256)).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? new BytesGoneError(`There are no bytes ${sha256}.`) : error;
    });
    try {
      const size = range === undefined ? (await file.stat()).size : range.end - range.start + 1;
      return { size, stream: file.createReadStream(range ?? {}) };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async removeUnused(
    idleMs: number,
    unused: (bytes: StoredBytes[]) => Promise<StoredBytes[]>,
    signal?: AbortSignal,
  ): Promise<number> {
    return (await deleteLeftOvers(this, LEFT_OVER)) + (await deleteUnused(this, idleMs, unused, signal));
  }

  async removeAll(workspaceId: string): Promise<void> {
    await rm(join(this.root, workspaceId), { recursive: true, force: true });
  }

  pathOf(workspaceId: string, sha256: string): string {
    return join(this.root, workspaceId, sha256.slice(0, 2), sha256);
  }

  // Always a rename, also over equal bytes: the new modification time is what keeps the cleaner away from them.
  private async moveIntoPlace(temporary: string, path: string): Promise<void> {
    const folder = dirname(path);
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    await rename(temporary, path);
    await sync(folder);
    if (made === undefined) return;
    await sync(dirname(folder));
    await sync(this.root);
  }
}

async function write(path: string, content: ArrivingBytes): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of content) await file.appendFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
