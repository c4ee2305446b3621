import { execFile } from 'node:child_process';
import { chmodSync, lchownSync, lstatSync, mkdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { needProgram } from '../host.js';
import { SandboxError } from '../sandbox.js';
import { takeUserId, type UserId } from './user-ids.js';

const run = promisify(execFile);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The workdirs of all tasks, one folder each. As root each belongs to the number that its session runs under. */
export class Workdirs {
  private readonly folder: string;

  constructor(base: string, asRoot: boolean) {
    this.folder = join(base, 'workdirs');
    mkdirSync(this.folder, { recursive: true });
    chmodSync(this.folder, asRoot ? 0o711 : 0o700);
  }

  path(taskId: string): string {
    // The id becomes a path that root changes and deletes below.
    if (!UUID.test(taskId)) throw new SandboxError(`A task id in the form of a UUID is expected, not '${taskId}'.`);
    return join(this.folder, taskId);
  }

  /** Makes the workdir when it is missing. As ordinary user. */
  open(taskId: string): string {
    const path = this.path(taskId);
    this.make(path);
    return path;
  }

  /** The same as root: also takes a user number, the one that the workdir has if that is free, and gives it the files. */
  async openAsRoot(taskId: string): Promise<{ path: string; user: UserId }> {
    const path = this.path(taskId);
    const isNew = this.make(path);
    const { uid: owner } = lstatSync(path);
    const user = await takeUserId(owner);
    try {
      // Nothing is in it, so no program has to walk through it: starting one costs more than all the rest.
      if (isNew) lchownSync(path, user.uid, user.uid);
      // Folders after what is in them, the workdir last: an owner that fits means that all of it fits.
      else if (user.uid !== owner) {
        await run(needProgram('chown', 'coreutils'), ['-hR', `${user.uid}:${user.uid}`, '--', path], { env: {} });
      }
    } catch (error) {
      user.release();
      throw error;
    }
    return { path, user };
  }

  /** Whether it was missing. */
  private make(path: string): boolean {
    return mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
  }

  /** Deletes it. rm(1) and chmod(1) follow no link. */
  async remove(taskId: string): Promise<void> {
    await removeFolder(this.path(taskId));
  }
}

/** Deletes a folder with all that is in it, whatever its rights; succeeds when there is none. */
export async function removeFolder(path: string): Promise<void> {
  const rm = needProgram('rm', 'coreutils');
  const remove = () => run(rm, ['-rf', '--one-file-system', '--', path], { env: {} });
  try {
    await remove();
  } catch {
    await run(needProgram('chmod', 'coreutils'), ['-R', 'u+rwX', '--', path], { env: {} }).catch(() => undefined);
    await remove();
  }
}

/** Path inside the workdir, absolute; null when it leads out. */
export function insideWorkdir(path: string, workdir: string): string | null {
  const full = posix.resolve(workdir, path);
  return full === workdir || full.startsWith(`${workdir}/`) ? full : null;
}
