import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lchownSync, lstatSync, mkdirSync, realpathSync, renameSync, rmdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { needProgram, run } from '../host.js';
import { type Sandbox, SandboxError } from '../sandbox.js';
import { bytesOf } from './folder-size.js';
import { claimsFolder, type UserId, UserIds } from './user-ids.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUID_LENGTH = 36;
/** Tasks have one of version 7, what is tried at a boot one of version 4. */
const OF_TASK = /^.{14}7/;

/** A check of a task has folders of its own, under an id of version 8 or 9: so many run at once. */
const OF_CHECK = /^.{14}[89]/;
export type CheckLane = 8 | 9;
export const CHECK_LANES: readonly CheckLane[] = [8, 9];

/** The id under which a check of a task has its folders, one check of a lane at a time. They go with the task. */
export function checkFolderOf(taskId: string, lane: CheckLane): string {
  return `${taskId.slice(0, 14)}${lane}${taskId.slice(15)}`;
}

/** What a task's folder beside its workdir is called: the name of the workdir and this. It holds `tmp` and `home`. */
export const BESIDE = '.beside';
/** What a folder is called in which those of a task are being restored: the name of the workdir and this. */
const DRAFTS = '.restoring';
/** What a folder is called in which those of a task lie that are being deleted: the name of the workdir and this. */
const ASIDE = '.removed';

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
    return foldersAt(this.path(taskId));
  }

  /** As of {@link Sandbox.restore}. What a killed process has left is begun again. */
  async restore(taskId: string, fill: Parameters<Sandbox['restore']>[1]): Promise<void> {
    const path = this.path(taskId);
    if (existsSync(path)) return;
    await removeFolder(path + DRAFTS, path + BESIDE);
    // Under a name of its own: another process may still be at it whose run was taken from it.
    const draft = join(path + DRAFTS, randomBytes(6).toString('hex'));
    // No session has the user meanwhile. That of the run asks for the one who owns the workdir.
    const user = await this.reserve(taskId);
    let half: string[] = [];
    try {
      await fill({ ...(await this.makeAt(draft, user)) }, user?.uid ?? null);
      if (rename(draft + BESIDE, path + BESIDE)) half = [path + BESIDE];
      this.moveIn(draft, path);
      half = [];
    } finally {
      user?.release();
      await removeFolder(draft, draft + BESIDE, ...half);
      removeEmpty(path + DRAFTS);
    }
  }

  /** As {@link rename}. A folder goes into another one only where it may be written to, and its task may have closed it. */
  private moveIn(draft: string, path: string): void {
    const { mode } = lstatSync(draft);
    if (this.userIds === null) chmodSync(draft, 0o700);
    if (rename(draft, path) && this.userIds === null) chmodSync(path, mode & 0o7777);
  }

  /** Makes the folders that are missing, and gives them with all that is in them to the user. */
  make(taskId: string, user: UserId | null): Promise<TaskFolders> {
    return this.makeAt(this.path(taskId), user);
  }

  private async makeAt(path: string, user: UserId | null): Promise<TaskFolders> {
    const folders = foldersAt(path);
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

  /** The tasks that have folders here, whole or half or on their way out. A trial at the boot of another process is none. */
  async taskIds(): Promise<string[]> {
    const ids = (await readdir(this.folder)).map((name) => name.slice(0, UUID_LENGTH));
    const tasks = ids.map((id) => (OF_CHECK.test(id) ? `${id.slice(0, 14)}7${id.slice(15)}` : id));
    return [...new Set(tasks)].filter((id) => UUID.test(id) && OF_TASK.test(id));
  }

  /** Deletes them. */
  async remove(taskId: string): Promise<void> {
    await this.setAside(taskId)();
  }

  /** As of {@link Sandbox.setAside}. rm(1) and chmod(1) follow no link. */
  setAside(taskId: string): () => Promise<void> {
    const path = this.path(taskId);
    const checks = OF_TASK.test(taskId) ? CHECK_LANES.map((lane) => this.path(checkFolderOf(taskId, lane))) : [];
    // What was left of a check when its process was killed amid the removal goes with the task.
    const left = checks.map((one) => one + ASIDE);
    const parts = [...[path, ...checks].flatMap((one) => [one, one + BESIDE, one + DRAFTS]), ...left].filter((one) =>
      existsSync(one),
    );
    // Under names of their own: what could not be deleted before lies there too.
    const aside = join(path + ASIDE, randomBytes(6).toString('hex'));
    if (parts.length > 0) mkdirSync(aside, { recursive: true, mode: 0o700 });
    for (const part of parts) {
      // A folder goes into another one only where it may be written to, and its task may have closed it.
      if (this.userIds === null) chmodSync(part, 0o700);
      renameSync(part, join(aside, basename(part)));
    }
    return () => removeFolder(path + ASIDE);
  }
}

function foldersAt(workdir: string): TaskFolders {
  return { workdir, tmp: join(workdir + BESIDE, 'tmp'), home: join(workdir + BESIDE, 'home') };
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** False: another process has had the task meanwhile, and was faster. */
function rename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return false;
  }
}

/** Whether it was missing. */
function makeFolder(path: string): boolean {
  return mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
}

/** Deletes folders with all that is in them, whatever its rights; succeeds when there are none. */
export async function removeFolder(...paths: string[]): Promise<void> {
  const left = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  // Most often there are none, and starting a program costs more than looking.
  if (left.length === 0) return;
  const rm = needProgram('rm', 'coreutils');
  const remove = () => run(rm, ['-rf', '--one-file-system', '--', ...left], { env: {} });
  try {
    await remove();
  } catch {
    await run(needProgram('chmod', 'coreutils'), ['-R', 'u+rwX', '--', ...left], { env: {} }).catch(() => undefined);
    await remove();
  }
}

/** Whether an absolute path is a folder or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
