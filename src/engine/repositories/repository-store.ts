import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { Waits } from '../agent/waits.js';
import { sandboxLimitsOf } from '../../platform/config/config-file.js';
import type { InputSkill } from '../skills/task-skills.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { Env } from '../../platform/config/env.js';
import { DiskSpace } from '../../platform/disk/disk-space.js';
import { type Base, cloneInto, type Wanted } from './clone.js';
import type { GitOptions } from './host-git.js';
import { keptSkills, SKILL_FILES } from './kept-skills.js';
import type { PushOfTask } from './push-record.js';
import { RepositoryError } from './repository-error.js';
import { RepositoryRules } from './repository-rules.js';

export interface RepositoryOfTask extends Wanted {
  taskId: string;
  /** Of the task. */
  title: string;
  push: PushOfTask | null;
}

const CLONE_SECONDS = 600;
/** Of each command. */
const PUSH_SECONDS = 300;
const NO_SPACE = 'The disk of the service is nearly full.';

/**
 * What the service keeps of the repositories of tasks, outside of their workdirs: for each task a folder with two packs. The
 * history goes when it is handed in; the files of the commit stay, because what the agent makes is compared with them
 * (docs/decisions/0051).
 */
@Injectable()
export class RepositoryStore {
  private readonly folder: string;
  private readonly limits: ReturnType<typeof sandboxLimitsOf>;

  constructor(
    env: Env,
    dataDir: DataDir,
    readonly rules: RepositoryRules,
    private readonly space: DiskSpace,
  ) {
    this.folder = join(dataDir.path, 'repositories');
    this.limits = sandboxLimitsOf(env.file);
  }

  /**
   * Clones it, unless that is done. Rejects with {@link RepositoryError}, and with the reason of the signal. A folder has its name
   * when all of it is there: what a killed worker has left is begun again.
   */
  async clone(repository: RepositoryOfTask, signal: AbortSignal, waits?: Waits): Promise<Base> {
    const { taskId } = repository;
    const done = this.base(taskId);
    if (done !== null) return done;
    const draft = await this.draft(taskId);
    try {
      const base = await this.cloned(repository, draft, signal, waits);
      await writeFile(join(draft, 'base.json'), JSON.stringify(base));
      for (const name of ['history.pack', 'files.pack', ...SKILL_FILES, 'base.json']) await written(join(draft, name));
      await rename(draft, this.path(taskId)).catch(ignoreTaken);
      return this.base(taskId) ?? base;
    } finally {
      await removeAll(draft);
    }
  }

  /** A pack of the commit and all that it comes from; null when it is handed in. */
  history(taskId: string): string | null {
    const path = join(this.path(taskId), 'history.pack');
    return existsSync(path) ? path : null;
  }

  /** A pack of the commit and its files. */
  files(taskId: string): string {
    return join(this.path(taskId), 'files.pack');
  }

  /** Those of the commit. */
  skills(taskId: string): InputSkill[] {
    return keptSkills(this.path(taskId));
  }

  /**
   * A new folder for git(1), to be {@link discard}ed; what killed workers have left of the task goes. Rejects with
   * {@link RepositoryError} when the disk is nearly full.
   */
  async draft(taskId: string): Promise<string> {
    if (this.space.state !== 'enough') throw new RepositoryError(NO_SPACE);
    await this.removeDrafts(taskId);
    const draft = join(this.folder, `${taskId}.${randomBytes(6).toString('hex')}`);
    await mkdir(draft, { recursive: true, mode: 0o700 });
    return draft;
  }

  /** What cannot be removed now goes with the next one. */
  async discard(draft: string): Promise<void> {
    await removeAll(draft).catch(() => undefined);
  }

  /** For git(1) that makes and pushes a branch. */
  gitLimits(signal: AbortSignal): Pick<GitOptions, 'fileBytes' | 'memoryBytes' | 'seconds' | 'signal'> {
    const { diskBytes, memoryBytes } = this.limits;
    return { fileBytes: diskBytes, memoryBytes, seconds: PUSH_SECONDS, signal };
  }

  /** Bytes on the disk of what is kept for a task; 0 when nothing is. */
  async bytes(taskId: string): Promise<number> {
    // Most tasks have none, and each of their calls asks: an error of readdir(2) takes ten times as long.
    if (!existsSync(this.path(taskId))) return 0;
    const names = await readdir(this.path(taskId)).catch(() => []);
    // What goes away meanwhile takes none.
    const blocks = names.map((name) =>
      stat(join(this.path(taskId), name)).then(
        (found) => found.blocks,
        () => 0,
      ),
    );
    // stat(2) counts in 512 bytes whatever the file system.
    return (await Promise.all(blocks)).reduce((sum, n) => sum + n * 512, 0);
  }

  /** It lies in the workdir now. */
  async handedIn(taskId: string): Promise<void> {
    await rm(join(this.path(taskId), 'history.pack'), { force: true });
  }

  /** Whether a comparison has begun whose folder in the workdir is not removed yet: its worker was killed. */
  compares(taskId: string): boolean {
    return existsSync(this.comparison(taskId));
  }

  async beginComparison(taskId: string): Promise<void> {
    await writeFile(this.comparison(taskId), '').catch((cause: unknown) => {
      throw new RepositoryError('The changes were not counted.', { cause });
    });
  }

  async endComparison(taskId: string): Promise<void> {
    await rm(this.comparison(taskId), { force: true });
  }

  /** Takes what is kept of a task out of the way at once. What it resolves with deletes it; else the next clone does. */
  async setAside(taskId: string): Promise<() => Promise<void>> {
    if (existsSync(this.path(taskId)))
      await rename(this.path(taskId), join(this.folder, `${taskId}.${randomBytes(6).toString('hex')}`));
    return () => this.removeDrafts(taskId);
  }

  /** For a deleted task, and for a clone that is of no use. Succeeds when there is none. */
  async remove(taskId: string): Promise<void> {
    // First what says that it is whole.
    await removeAll(join(this.path(taskId), 'base.json'));
    await removeAll(this.path(taskId));
    await this.removeDrafts(taskId);
  }

  private async cloned(repository: RepositoryOfTask, draft: string, signal: AbortSignal, waits?: Waits): Promise<Base> {
    const { diskBytes, memoryBytes } = this.limits;
    const within = AbortSignal.timeout(CLONE_SECONDS * 1000);
    const full = new AbortController();
    const look = () => this.space.state === 'critical' && full.abort();
    this.space.listen(look);
    try {
      return await cloneInto(draft, repository, this.rules, {
        ...{ fileBytes: diskBytes, memoryBytes, seconds: CLONE_SECONDS },
        signal: AbortSignal.any([signal, within, full.signal]),
        waits,
      });
    } catch (error) {
      signal.throwIfAborted();
      if (full.signal.aborted) throw new RepositoryError(NO_SPACE, { cause: error });
      if (!within.aborted) throw error;
      throw new RepositoryError(`The repository could not be cloned within ${CLONE_SECONDS / 60} minutes.`, {
        cause: error,
      });
    } finally {
      this.space.unlisten(look);
    }
  }

  private base(taskId: string): Base | null {
    const path = join(this.path(taskId), 'base.json');
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Base) : null;
  }

  private comparison(taskId: string): string {
    return join(this.path(taskId), 'comparison');
  }

  private path(taskId: string): string {
    return join(this.folder, taskId);
  }

  private async removeDrafts(taskId: string): Promise<void> {
    const names = await readdir(this.folder).catch(() => []);
    for (const name of names) if (name.startsWith(`${taskId}.`)) await removeAll(join(this.folder, name));
  }
}

/** A machine that fails must not leave a file that is shorter than it was. */
async function written(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}

/** Another worker had the task meanwhile and was faster. */
function ignoreTaken(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
}

/** A git(1) that a killed worker has left may still write in it. */
async function removeAll(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5 });
}
