import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, renameSync, rmdirSync, utimesSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { needProgram, run } from '../../engine/sandbox/host.js';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import { removeFolder } from '../../engine/sandbox/workdir/workdirs.js';
import { Chore } from '../../platform/chores/chore.js';
import { newId } from '../../platform/database/ids.js';
import { DiskSpace } from '../../platform/disk/disk-space.js';

/** What of a task's folders a build has: the other one, `/tmp`, begins empty. */
export const BUILT_ROOTS = ['workdir', 'home'] as const;
/** The folders of a build or of a task, by the names of {@link BUILT_ROOTS}. */
export type BuiltFolders = Record<(typeof BUILT_ROOTS)[number], string>;

/** Beside the workdirs, and not in DATA_DIR: an operator may have put those on another disk, and rename(2) does not leave one. */
const FOLDER = '.prepared';
const WHOLE = 'whole';
const SPARE = 'spare.';
const DRAFT = 'draft.';
const REMOVED = 'removed.';

/** Spare copies of a build that lie ready: two tasks that begin at once have one each. */
const SPARES = 2;
/** Builds that a machine has prepared at the most. */
const BUILDS = 8;
/** A build that no task has begun from for so long is prepared no longer. Milliseconds. */
const UNUSED_MS = 24 * 3_600_000;
/** What a process has begun and left lies so long. Milliseconds; longer than a build or a copy may take. */
const LEFT_MS = 3_600_000;
/** Of the room above the reserve of the disk, the part that one build with its spares may take. */
const PART_OF_ROOM = 0.25;

/**
 * Builds as folders on this machine, beside those of tasks: each whole, and some spare copies of it. A task gets a spare by rename(2), or a copy.
 * Whatever lies here can be made again from the snapshot of its build; what has its name is complete.
 */
@Injectable()
export class PreparedFolders {
  private readonly logger = new Logger(PreparedFolders.name);
  /** Builds whose spares this process is making. */
  private readonly refilling = new Map<string, Promise<void>>();
  private place: string | null | undefined;
  private closed = new AbortController();

  constructor(
    private readonly sandboxes: SandboxSelector,
    private readonly space: DiskSpace,
  ) {}

  /** Whether this machine has the build. */
  async has(buildId: string): Promise<boolean> {
    const place = await this.at(buildId);
    return place !== null && existsSync(join(place, WHOLE));
  }

  /** Whether there is room for a build of so many bytes, with its spares. False too where folders lie on no machine. */
  async hasRoomFor(bytes: number): Promise<boolean> {
    if ((await this.folder()) === null || this.space.state !== 'enough') return false;
    return bytes * (1 + SPARES) <= this.space.room * PART_OF_ROOM;
  }

  /**
   * Keeps a build; `fill` writes it into empty folders. Does nothing when it is there already. Rejects with what `fill` throws: nothing is kept then.
   */
  async keep(buildId: string, fill: (folders: BuiltFolders) => Promise<void>): Promise<void> {
    const place = await this.at(buildId);
    if (place === null || existsSync(join(place, WHOLE))) return;
    await this.made(place, WHOLE, fill);
    void this.refill(buildId);
  }

  /**
   * Gives a task a spare copy: it takes the place of its folders, which are empty, and belongs to `owner` then; null: to the user of the process. False
   * when there is none. Rejects with the reason of the signal.
   */
  async takeSpare(buildId: string, to: BuiltFolders, owner: number | null, signal: AbortSignal): Promise<boolean> {
    const place = await this.at(buildId);
    if (place === null || !(await this.claimed(place, to))) return false;
    await this.given(buildId, place, to, owner, signal);
    return true;
  }

  /** As {@link takeSpare}, with a copy that is made now. False when the build is not here. */
  async copy(buildId: string, to: BuiltFolders, owner: number | null, signal: AbortSignal): Promise<boolean> {
    const place = await this.at(buildId);
    if (place === null || !existsSync(join(place, WHOLE))) return false;
    await copy(foldersIn(join(place, WHOLE)), to, signal, 'at once');
    await this.given(buildId, place, to, owner, signal);
    return true;
  }

  /** Makes the spares of a build that are missing, one after the other. Never rejects. */
  refill(buildId: string): Promise<void> {
    let running = this.refilling.get(buildId);
    if (running === undefined) {
      running = this.makeSpares(buildId)
        .catch((error: unknown) => {
          if (!this.closed.signal.aborted) this.logger.warn(`Build ${buildId} has no spare copy: ${String(error)}`);
        })
        .finally(() => this.refilling.delete(buildId));
      this.refilling.set(buildId, running);
    }
    return running;
  }

  /** The builds that this machine has, the one that was used last first. */
  async all(): Promise<{ buildId: string; usedAt: number }[]> {
    const folder = await this.folder();
    const names = folder === null ? [] : await readdir(folder).catch(() => []);
    const found = await Promise.all(
      names
        .filter((name) => !name.startsWith(REMOVED))
        .map(async (buildId) => ({ buildId, usedAt: await changedAt(join(folder ?? '', buildId)) })),
    );
    return found.sort((a, b) => b.usedAt - a.usedAt);
  }

  /** Removes those that are used no more, all but the newest few, and what killed processes have left. Resolves with how many builds went. */
  @Chore({ every: 10 * 60_000 })
  async tidy(signal: AbortSignal): Promise<number> {
    const folder = await this.folder();
    if (folder === null || !existsSync(folder)) return 0;
    const full = this.space.state !== 'enough';
    let removed = 0;
    for (const [at, { buildId, usedAt }] of (await this.all()).entries()) {
      if (signal.aborted) return removed;
      const place = join(folder, buildId);
      if (full || at >= BUILDS || usedAt < Date.now() - UNUSED_MS) {
        await this.remove(buildId);
        removed++;
      } else await removeLeft(place, DRAFT);
    }
    await removeLeft(folder, REMOVED);
    return removed;
  }

  /** Removes one. Succeeds when it is not here. */
  async remove(buildId: string): Promise<void> {
    const place = await this.at(buildId);
    if (place === null || !existsSync(place)) return;
    const aside = join(dirname(place), REMOVED + chance());
    // Out of the way at once: half of it must not be taken for all of it.
    if (renamed(place, aside)) await removeFolder(aside);
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed.abort(new Error('This process stops.'));
    await Promise.allSettled(this.refilling.values());
  }

  private async given(buildId: string, place: string, to: BuiltFolders, owner: number | null, signal: AbortSignal) {
    // By this time it is known when it was last used.
    utimesSync(place, new Date(), new Date());
    if (owner !== null) await chown(owner, Object.values(to), signal);
    void this.refill(buildId);
  }

  /** Whether a spare lies in the place of the folders now. */
  private async claimed(place: string, to: BuiltFolders): Promise<boolean> {
    const names = await readdir(place).catch(() => []);
    for (const name of names.filter((one) => one.startsWith(SPARE))) {
      // Another process may take the same one: the first one to give it this name has it.
      const mine = join(place, DRAFT + chance());
      if (!renamed(join(place, name), mine)) continue;
      moveFolders(foldersIn(mine), to);
      await removeFolder(mine);
      return true;
    }
    return false;
  }

  private async makeSpares(buildId: string): Promise<void> {
    const place = await this.at(buildId);
    const { signal } = this.closed;
    while (place !== null && existsSync(join(place, WHOLE)) && !signal.aborted && this.space.state === 'enough') {
      const there = (await readdir(place)).filter((name) => name.startsWith(SPARE));
      if (there.length >= SPARES) return;
      await this.made(place, SPARE + chance(), (folders) =>
        copy(foldersIn(join(place, WHOLE)), folders, signal, 'gently'),
      );
    }
  }

  /** Makes a folder under another name, and gives it its own when it is complete. */
  private async made(place: string, name: string, fill: (folders: BuiltFolders) => Promise<void>): Promise<void> {
    const draft = join(place, DRAFT + chance());
    const folders = foldersIn(draft);
    for (const root of BUILT_ROOTS) mkdirSync(folders[root], { recursive: true, mode: 0o700 });
    try {
      await fill(folders);
      // Another process may have been faster.
      renamed(draft, join(place, name));
    } finally {
      if (existsSync(draft)) await removeFolder(draft);
    }
  }

  /** Where a build is, or would be; null where folders lie on no machine. */
  private async at(buildId: string): Promise<string | null> {
    const folder = await this.folder();
    return folder === null ? null : join(folder, buildId);
  }

  private async folder(): Promise<string | null> {
    if (this.place !== undefined) return this.place;
    const { workdir } = (await this.sandboxes.current.folders(newId())) ?? {};
    if (workdir === undefined) return (this.place = null);
    const folder = join(dirname(workdir), FOLDER);
    // Closed to the users of all sandboxes.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    return (this.place = folder);
  }
}

function foldersIn(folder: string): BuiltFolders {
  return { workdir: join(folder, 'workdir'), home: join(folder, 'home') };
}

function chance(): string {
  return randomBytes(6).toString('hex');
}

/** Copies folders into empty ones. Files share their blocks where the file system can. `gently`: it gives way to all other work. */
async function copy(
  from: BuiltFolders,
  to: BuiltFolders,
  signal: AbortSignal,
  how: 'gently' | 'at once',
): Promise<void> {
  const cp = [needProgram('cp', 'coreutils'), '-a', '--reflink=auto', '-T', '--'];
  const [program = '', ...words] = how === 'gently' ? [needProgram('nice', 'coreutils'), '-n', '10', ...cp] : cp;
  for (const root of BUILT_ROOTS) await run(program, [...words, from[root], to[root]], { env: {}, signal });
}

async function chown(owner: number, folders: string[], signal: AbortSignal): Promise<void> {
  const args = ['-hR', `${owner}:${owner}`, '--', ...folders];
  await run(needProgram('chown', 'coreutils'), args, { env: {}, signal });
}

/** Moves folders of one file system to the places of empty ones. */
export function moveFolders(from: BuiltFolders, to: BuiltFolders): void {
  for (const root of BUILT_ROOTS) {
    const { mode } = lstatSync(from[root]);
    // As an ordinary user a folder goes into another one only where it may be written to, and a setup may have closed it.
    chmodSync(from[root], 0o700);
    rmdirSync(to[root]);
    renameSync(from[root], to[root]);
    chmodSync(to[root], mode & 0o7777);
  }
}

/** False: what is to be moved is gone, or the name is taken. */
function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return false;
  }
}

async function changedAt(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

async function removeLeft(folder: string, prefix: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (name.startsWith(prefix) && (await changedAt(path)) < Date.now() - LEFT_MS) await removeFolder(path);
  }
}
