import { randomUUID } from 'node:crypto';
import { chmodSync, createWriteStream, mkdirSync, realpathSync } from 'node:fs';
import { chmod, chown, mkdir, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SandboxError, type SharedFile } from '../sandbox.js';
import { removeFolder } from './workdirs.js';

/**
 * Copies of the files of a project, a folder for each session. Not the stored bytes themselves: those belong to the
 * service alone, and a session runs as somebody else.
 */
export class ProjectFolders {
  private readonly folder: string;

  constructor(
    base: string,
    private readonly asRoot: boolean,
  ) {
    const folder = join(base, 'projects');
    mkdirSync(folder, { recursive: true });
    // An operator may have put a link here to another disk: what lies inside is recognized by its real path.
    this.folder = realpathSync(folder);
    chmodSync(this.folder, this.passable);
  }

  /**
   * Lays the files out for one session of a task, readable for `gid` (null: for the service's own user), writable for
   * nobody. Removes what a killed worker has left of the same task. Throws {@link SandboxError}, or the signal's reason.
   */
  async make(taskId: string, files: SharedFile[], gid: number | null, signal: AbortSignal): Promise<string> {
    const path = join(this.folder, taskId, randomUUID());
    try {
      await removeFolder(dirname(path));
      await mkdir(dirname(path), { recursive: true, mode: this.passable });
      await mkdir(path, { mode: 0o700 });
      for (const file of files) await lay(file, join(path, file.name), gid, signal);
      await close(path, 0o550, gid);
      return path;
    } catch (error) {
      await this.remove(path);
      signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      throw new SandboxError(`The files of the project cannot be laid out: ${reason}`, { cause: error });
    }
  }

  /** Removes what {@link make} made. */
  async remove(path: string): Promise<void> {
    await removeFolder(path);
    // Another session of the task may have a folder in it.
    await rmdir(dirname(path)).catch(() => undefined);
  }

  async removeAll(taskId: string): Promise<void> {
    await removeFolder(join(this.folder, taskId));
  }

  private get passable(): number {
    return this.asRoot ? 0o711 : 0o700;
  }
}

async function lay(file: SharedFile, path: string, gid: number | null, signal: AbortSignal): Promise<void> {
  const content = await file.open().catch(ignoreGone);
  // Removed from the project since the run began, and swept up.
  if (content === null) return;
  await pipeline(content, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
  await close(path, 0o440, gid);
}

async function close(path: string, mode: number, gid: number | null): Promise<void> {
  if (gid !== null) await chown(path, 0, gid);
  await chmod(path, mode);
}

function ignoreGone(error: NodeJS.ErrnoException): Readable | null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}
