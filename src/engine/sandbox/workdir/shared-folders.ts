import { randomUUID } from 'node:crypto';
import { chmodSync, createWriteStream, mkdirSync, realpathSync } from 'node:fs';
import { chmod, chown, mkdir, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SandboxError } from '../sandbox.js';
import type { SharedEntry, SharedFile, SharedFolder } from '../shared-files.js';
import { removeFolder } from './workdirs.js';

/** What a session may read and not change, as the host names it; null: nothing of the kind. */
export interface Shared {
  project: string | null;
  skills: string | null;
}

/** Of a session that is shown neither. */
export const NOTHING_SHARED: Shared = { project: null, skills: null };

/**
 * Copies of the files of a project and of skills, a folder for each session. Not the stored bytes themselves: those belong to the
 * service alone, and a session runs as somebody else.
 */
export class SharedFolders {
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
  async make(
    taskId: string,
    { project, skills }: { project: SharedFile[]; skills: SharedFolder[] },
    gid: number | null,
    signal: AbortSignal,
  ): Promise<Shared> {
    if (project.length === 0 && skills.length === 0) return NOTHING_SHARED;
    const path = join(this.folder, taskId, randomUUID());
    const shared: Shared = {
      project: project.length === 0 ? null : join(path, 'project'),
      skills: skills.length === 0 ? null : join(path, 'skills'),
    };
    try {
      await removeFolder(dirname(path));
      for (const folder of [dirname(path), path]) await mkdir(folder, { recursive: true, mode: this.passable });
      if (shared.project !== null) await layFiles(project, shared.project, gid, signal);
      if (shared.skills !== null) await layFolders(skills, shared.skills, gid, signal);
      return shared;
    } catch (error) {
      await this.remove(shared);
      signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      throw new SandboxError(`The files of the project or of a skill cannot be laid out: ${reason}`, { cause: error });
    }
  }

  /** Removes what {@link make} made. */
  async remove({ project, skills }: Shared): Promise<void> {
    const one = project ?? skills;
    if (one === null) return;
    await removeFolder(dirname(one));
    // Another session of the task may have a folder in it.
    await rmdir(dirname(dirname(one))).catch(() => undefined);
  }

  async removeAll(taskId: string): Promise<void> {
    await removeFolder(join(this.folder, taskId));
  }

  private get passable(): number {
    return this.asRoot ? 0o711 : 0o700;
  }
}

async function layFiles(files: SharedFile[], folder: string, gid: number | null, signal: AbortSignal): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  for (const file of files) {
    const content = await file.open().catch(ignoreGone);
    // Removed from the project since the run began, and swept up.
    if (content !== null) await lay({ content, executable: false }, join(folder, file.name), gid, signal);
  }
  await close(folder, 0o550, gid);
}

async function layFolders(all: SharedFolder[], folder: string, gid: number | null, signal: AbortSignal): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  for (const { name, files } of all) {
    const made = [join(folder, name)];
    await mkdir(join(folder, name), { mode: 0o700 });
    for await (const file of files()) {
      const path = join(folder, name, file.path);
      // Who names them checks that: here a file must not come out, whoever has named it.
      if (!path.startsWith(`${join(folder, name)}/`)) throw new Error(`a file of the skill ${name} lies outside of it`);
      const missing: string[] = [];
      for (let above = dirname(path); !made.includes(above); above = dirname(above)) missing.unshift(above);
      for (const one of missing) await mkdir(one, { mode: 0o700 });
      made.push(...missing);
      await lay(file, path, gid, signal);
    }
    for (const one of made.toReversed()) await close(one, 0o550, gid);
  }
  await close(folder, 0o550, gid);
}

async function lay(
  { content, executable }: Pick<SharedEntry, 'content' | 'executable'>,
  path: string,
  gid: number | null,
  signal: AbortSignal,
): Promise<void> {
  await pipeline(content, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
  await close(path, executable ? 0o550 : 0o440, gid);
}

async function close(path: string, mode: number, gid: number | null): Promise<void> {
  if (gid !== null) await chown(path, 0, gid);
  await chmod(path, mode);
}

function ignoreGone(error: NodeJS.ErrnoException): Readable | null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}
