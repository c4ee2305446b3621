import { execFile } from 'node:child_process';
import { chmodSync, lchownSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { needProgram } from '../host.js';
import { SandboxError } from '../sandbox.js';
import { claimsFolder, type UserId, UserIds } from './user-ids.js';

const run = promisify(execFile);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The workdirs of all tasks, one folder each. As root each belongs to the user id that its session runs under. */
export class Workdirs {
  private readonly folder: string;

  private constructor(
    base: string,
    /** Null for an ordinary user, who owns all of them. */
    private readonly userIds: UserIds | null,
  ) {
    const folder = join(base, 'workdirs');
    mkdirSync(folder, { recursive: true });
    // An operator may have put a link here to another disk: what lies inside is recognized by its real path.
    this.folder = realpathSync(folder);
    chmodSync(this.folder, userIds === null ? 0o700 : 0o711);
  }

  static async open(base: string, asRoot: boolean): Promise<Workdirs> {
    const userIds = asRoot ? new UserIds(claimsFolder(base)) : null;
    await userIds?.open();
    return new Workdirs(base, userIds);
  }

  /** What is missing here of what keeps sessions apart, one sentence each, for the boot report. */
  get missing(): string[] {
    return this.userIds?.missing ?? [];
  }

  path(taskId: string): string {
    // The id becomes a path that root changes and deletes below.
    if (!UUID.test(taskId)) throw new SandboxError(`A task id in the form of a UUID is expected, not '${taskId}'.`);
    return join(this.folder, taskId);
  }

  /** Claims a user id for a session of the task: as root the one that its workdir has, if that is free. Else null. */
  async reserve(taskId: string): Promise<UserId | null> {
    if (this.userIds === null) return null;
    const owner = lstatSync(this.path(taskId), { throwIfNoEntry: false })?.uid;
    return this.userIds.claim(owner ?? null);
  }

  /** Makes the workdir when it is missing, and gives it with all that is in it to the user. Returns its path. */
  async make(taskId: string, user: UserId | null): Promise<string> {
    const path = this.path(taskId);
    const isNew = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
    if (user === null) return path;
    // Nothing is in it, so no program has to walk through it: starting one costs more than all the rest.
    if (isNew) lchownSync(path, user.uid, user.uid);
    // Folders after what is in them, the workdir last: an owner that fits means that all of it fits.
    else if (user.uid !== lstatSync(path).uid) {
      await run(needProgram('chown', 'coreutils'), ['-hR', `${user.uid}:${user.uid}`, '--', path], { env: {} });
    }
    return path;
  }

  /** For the end of the process, when no session is open any more. */
  close(): void {
    this.userIds?.close();
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
