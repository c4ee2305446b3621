import { chmodSync, existsSync, lchownSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { needProgram, run } from '../host.js';
import { SandboxError } from '../sandbox.js';
import { bytesOf } from './folder-size.js';
import { claimsFolder, type UserId, UserIds } from './user-ids.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** What a task's folder beside its workdir is called: the name of the workdir and this. It holds `tmp` and `home`. */
export const BESIDE = '.beside';

/** The folders that live as long as a task: its workdir, and what commands find as `/tmp` and as their home. */
export interface TaskFolders {
  workdir: string;
  tmp: string;
  home: string;
}

/**
 * The workdirs of all tasks, one folder each, and beside each another one for its `/tmp` and home (docs/decisions/0050). As root
 * both belong to the user id that the task's session runs under.
 */
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

  /** The folders of a task, whether they are there or not. */
  folders(taskId: string): TaskFolders {
    const workdir = this.path(taskId);
    return { workdir, tmp: join(workdir + BESIDE, 'tmp'), home: join(workdir + BESIDE, 'home') };
  }

  /** Makes the folders that are missing, and gives them with all that is in them to the user. */
  async make(taskId: string, user: UserId | null): Promise<TaskFolders> {
    const folders = this.folders(taskId);
    const { workdir, tmp, home } = folders;
    const beside = workdir + BESIDE;
    // Folders after what is in them, the workdir last: an owner that fits means that all of it fits.
    const all = [tmp, home, beside, workdir];
    const made = [beside, tmp, home, workdir].filter((path) => makeFolder(path));
    // As every system has it; nobody else can walk through the folder around it.
    if (made.includes(tmp)) chmodSync(tmp, 0o1777);
    if (user === null) return folders;
    // Nothing is in it, so no program has to walk through it: starting one costs more than all the rest.
    for (const path of all.filter((one) => made.includes(one))) lchownSync(path, user.uid, user.uid);
    const others = [beside, workdir].filter((path) => lstatSync(path).uid !== user.uid);
    if (others.length > 0) {
      await run(needProgram('chown', 'coreutils'), ['-hR', `${user.uid}:${user.uid}`, '--', ...others], { env: {} });
    }
    return folders;
  }

  /** For the end of the process, when no session is open any more. */
  close(): void {
    this.userIds?.close();
  }

  /** Bytes that the folders of a task take on disk. */
  async bytes(taskId: string): Promise<number> {
    const { workdir, tmp, home } = this.folders(taskId);
    const found = [workdir, tmp, home].filter((path) => existsSync(path));
    return found.length === 0 ? 0 : bytesOf(...found);
  }

  /** Deletes them. rm(1) and chmod(1) follow no link. */
  async remove(taskId: string): Promise<void> {
    const path = this.path(taskId);
    await removeFolder(path, path + BESIDE);
  }
}

/** Whether it was missing. */
function makeFolder(path: string): boolean {
  return mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
}

/** Deletes folders with all that is in them, whatever its rights; succeeds when there are none. */
export async function removeFolder(...paths: string[]): Promise<void> {
  const rm = needProgram('rm', 'coreutils');
  const remove = () => run(rm, ['-rf', '--one-file-system', '--', ...paths], { env: {} });
  try {
    await remove();
  } catch {
    await run(needProgram('chmod', 'coreutils'), ['-R', 'u+rwX', '--', ...paths], { env: {} }).catch(() => undefined);
    await remove();
  }
}

/** Whether an absolute path is a folder or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
