import { opendirSync, statfsSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import type { WatchedSpace } from '../../../platform/disk/disk-space.js';
import { sizeOf, type Size } from './folder-size.js';
import { deleteNewest } from './newest-files.js';
import { openWithoutName, type ProcessTree } from './open-files.js';

/** On every machine: nothing that an operator could mend, so no warning. */
export const WATCHED_DISK =
  'The disk limit is watched four times a second and no quota of the file system holds it, so a command can exceed it for a moment; over it files can only be deleted.';

const TICK_MS = 250;
/** How long this class waits for an answer of the disk. */
const SPACE_MS = 1000;
// The workdir is measured at least so often: files that others delete within one tick hide what the workdir has grown by in it.
const MEASURE_MS = 3000;
// du(1) takes 0.3 s for the 131,072 files that 2 GiB may have: at most a fifth of a core measures one workdir.
const REST = 4;
// ext4 makes an inode for each 16 KiB (mke2fs.conf); the same ratio bounds the number of files.
const BYTES_PER_INODE = 16 * 1024;
/** After a command that wrote more than so many bytes the workdir is measured, because `bytes` count towards the quota of the workspace (reference §14). */
const COUNTED = 1024 ** 2;
/** More than an honest command can write beyond the limit in the moment before it is ended. */
const MARGIN = 1024 ** 3;

/** Of the limit: so far the output of a command may fill a workdir. The rest is for the next command, which may have to write. */
const OUTPUT_PART = 7 / 8;

type When = 'before' | 'during' | 'output' | 'after' | 'glance';

interface WatchParts {
  /** The folders of the task, all on one file system. */
  folders: string[];
  limitBytes: number;
  space: WatchedSpace;
  /** The commands that run. */
  running: () => ProcessTree[];
  /** Files there that the service itself has open and that have no name. */
  nameless: () => Size;
  /** Ends them. */
  exceeded: () => void;
  /** Deletes what is in them. Called while no command runs. */
  empty: () => Promise<void>;
}

/** The size of the workdir when it was measured; that of the whole file system then (`total`) and at the last tick (`seen`); and what that grew by since. */
interface Measurement extends Size {
  at: number;
  total: Size;
  seen: Size;
  growth: Size;
}

/**
 * Keeps the folders of a task, together called its workdir here, within its limit (docs/decisions/0027). Before a command, and four times a second while one runs,
 * it asks how much the whole file system has grown: the workdir cannot have grown by more. Only when that could matter du(1) measures the workdir itself.
 *
 * A command that makes the workdir larger than its limit is ended. While it is over, or the disk is below its reserve, the
 * next ones may delete and read but make no file larger; one that finds a way to do so is ended too. What is over twice the limit
 * in the end is emptied.
 */
export class DiskWatch {
  private timer: NodeJS.Timeout | undefined;
  private measuring: Promise<void> | undefined;
  /** The last measurement; null before the first. */
  private last: Measurement | null = null;
  /** Commands that run, and those among them that may write. */
  private users = 0;
  private writers = 0;
  /** When the next measurement may begin, by `performance.now()`. */
  private rested = 0;
  /** Bytes that it had when it was emptied, until {@link takeNote}. */
  private emptied: number | null = null;
  /** Files of the last commands were deleted, until {@link takeNote}. */
  private gaveBack = false;
  private readonly limit: Size;

  constructor(private readonly parts: WatchParts) {
    const { limitBytes } = parts;
    this.limit = { bytes: limitBytes, inodes: Math.max(1000, limitBytes / BYTES_PER_INODE) };
  }

  /** Null when there is room to write in; else why there is none, in words for the model. */
  async room(): Promise<string | null> {
    // The measurement after the last command may still be under way.
    await this.measuring;
    await this.once(() => this.measure('before'));
    const { last, limit } = this;
    const { space } = this.parts;
    // What has just been deleted counts at once.
    if (space.state !== 'enough') await this.measureSpace();
    if (last !== null && exceeds(last, limit)) {
      return `The workdir with /tmp and ~ holds ${last.bytes} bytes in ${last.inodes} files, its limit is ${limit.bytes} bytes in ${Math.floor(limit.inodes)} files`;
    }
    return space.state === 'enough' ? null : 'The disk of the service is nearly full';
  }

  /** A sentence for the model about what happened since the last command; each only once. */
  takeNote(): string | null {
    const { emptied, gaveBack } = this;
    this.emptied = null;
    this.gaveBack = false;
    if (emptied === null && gaveBack) return GAVE_BACK;
    return emptied === null
      ? null
      : `The workdir was emptied, and /tmp and ~ with it: they held ${emptied} bytes, their limit is ${this.limit.bytes}`;
  }

  start(writes: boolean): void {
    this.users += 1;
    if (writes) this.writers += 1;
    this.timer ??= setInterval(this.tick, TICK_MS).unref();
    this.parts.space.listen(this.tick);
  }

  stop(writes: boolean): void {
    this.users -= 1;
    if (writes) this.writers -= 1;
    if (this.users > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.parts.space.unlisten(this.tick);
    void this.settle();
  }

  /**
   * After a command that could write: when the disk is below its reserve, the largest files that the command made or changed are deleted
   * until there is room again, so that the disk heals without a person (docs/decisions/0068). Tasks take turns with each size.
   * @param since when the command began, in milliseconds since 1970.
   */
  async giveBack(since: number): Promise<void> {
    const { space, folders } = this.parts;
    await this.measureSpace();
    if (space.state === 'enough') return;
    await this.measuring;
    const done = await deleteNewest(folders, since, async () => {
      await this.measureSpace();
      return space.state !== 'enough';
    });
    if (done === 'nothing') return;
    this.gaveBack = true;
    // A folder that its owner has closed hides what is in it.
    if (done === 'hidden' && this.users === 0) await this.empty({ bytes: this.last?.bytes ?? 0 });
    await this.measureSpace();
  }

  /** Looks once, as while a command runs: what is no command may have written. */
  glance(): void {
    if (this.parts.space.state === 'critical') this.parts.exceeded();
    if (performance.now() >= this.rested) void this.once(() => this.measure('glance'));
  }

  /** As of the last measurement; null before the first. */
  get bytes(): number | null {
    return this.last?.bytes ?? null;
  }

  /** Measures while a command runs. Resolves with how many bytes of its output there is room for. */
  async roomForOutput(): Promise<number> {
    await this.measuring;
    await later(Math.max(0, this.rested - performance.now()), undefined, { ref: false });
    // It has ended meanwhile.
    if (this.users === 0) return 0;
    await this.once(() => this.measure('output'));
    await this.measureSpace();
    return Math.min(this.limit.bytes * OUTPUT_PART - (this.last?.bytes ?? 0), this.parts.space.room);
  }

  /** A file system that hangs leaves the last answer: what has ended must not wait for it. */
  private async measureSpace(): Promise<void> {
    const given = new AbortController();
    const over = later(SPACE_MS, undefined, { ref: false, signal: given.signal }).catch(() => undefined);
    await Promise.race([this.parts.space.measure(), over]);
    given.abort();
  }

  /** Resolves when no measurement is under way. */
  async idle(): Promise<void> {
    await this.measuring;
  }

  private readonly tick = (): void => {
    if (this.parts.space.state === 'critical' && this.writers > 0) this.parts.exceeded();
    if (performance.now() >= this.rested) void this.once(() => this.measure('during'));
  };

  /** Measures after a command. A measurement that was under way at its end did not see all of it. */
  private async settle(): Promise<void> {
    await this.measuring;
    await this.once(() => this.measure('after'));
  }

  private async once(measure: () => Promise<void>): Promise<void> {
    await (this.measuring ??= measure().finally(() => (this.measuring = undefined)));
  }

  private async measure(when: When): Promise<void> {
    const { folders, running, nameless, exceeded } = this.parts;
    const total = totalOf(folders);
    if (total === null) return;
    if (this.last === null && folders.every(isEmpty)) this.last = measurementOf({ bytes: 0, inodes: 1 }, total);
    if (this.last !== null) step(this.last, total);
    if (!this.matters(total, when)) return;
    const began = performance.now();
    const size = await sizeNow(folders, running(), nameless).catch(() => null);
    if (size === null) return;
    this.rested = performance.now() + REST * (performance.now() - began);
    const most = this.most();
    this.last = measurementOf(size, total);
    if ((this.users > 0 || when === 'glance') && exceeds(size, most)) exceeded();
    if (this.users === 0 && size.bytes > this.limit.bytes + Math.max(this.limit.bytes, MARGIN)) await this.empty(size);
  }

  private matters(total: Size, when: When): boolean {
    const { last } = this;
    if (last === null || when === 'output') return true;
    if (when !== 'before' && performance.now() - last.at > MEASURE_MS) return true;
    if (total.bytes === last.total.bytes && total.inodes === last.total.inodes) return false;
    if (when === 'after' && total.bytes - last.total.bytes > COUNTED && performance.now() >= this.rested) return true;
    // Before a command too: with an older size than it finds, one that deletes would be ended for what another has written.
    const short = (this.users > 0 || when === 'before') && this.parts.space.state !== 'enough';
    return short || exceeds(sum(last, last.growth), this.limit);
  }

  /** What a command may make of the workdir: no more than it is already, when that is over the limit or the disk is short. */
  private most(): Size {
    const { last, limit } = this;
    if (last === null) return limit;
    if (this.parts.space.state !== 'enough') return last;
    return { bytes: Math.max(limit.bytes, last.bytes), inodes: Math.max(limit.inodes, last.inodes) };
  }

  private async empty({ bytes }: { bytes: number }): Promise<void> {
    await this.parts.empty();
    this.emptied = bytes;
    this.last = null;
  }
}

const GAVE_BACK =
  'The command filled the disk of the service: of the files that it made or changed the largest were deleted until there was room again';

function exceeds(size: Size, most: Size): boolean {
  return size.bytes > most.bytes || size.inodes > most.inodes;
}

const sum = (a: Size, b: Size): Size => ({ bytes: a.bytes + b.bytes, inodes: a.inodes + b.inodes });

function measurementOf(size: Size, total: Size): Measurement {
  return { ...size, at: performance.now(), total, seen: total, growth: { bytes: 0, inodes: 0 } };
}

/** Only its steps upwards count: what others delete between two of them would hide what the workdir has grown by. */
function step(last: Measurement, total: Size): void {
  const { seen, growth } = last;
  growth.bytes += Math.max(0, total.bytes - seen.bytes);
  growth.inodes += Math.max(0, total.inodes - seen.inodes);
  last.seen = total;
}

/** Asked at once: one statfs(2) takes 2 µs, the way through a thread 50 to 100, and each change of a file asks. */
function totalOf([first = '']: string[]): Size | null {
  try {
    const { bsize, blocks, bfree, files, ffree } = statfsSync(first);
    return { bytes: (blocks - bfree) * bsize, inodes: files - ffree };
  } catch {
    // It was removed meanwhile.
    return null;
  }
}

function isEmpty(folder: string): boolean {
  const entries = opendirSync(folder);
  try {
    return entries.readSync() === null;
  } finally {
    entries.closeSync();
  }
}

async function sizeNow(folders: string[], running: ProcessTree[], nameless: () => Size): Promise<Size> {
  const [kept, open] = await Promise.all([sizeOf(folders), openWithoutName(folders[0] ?? '', running)]);
  // After the others: a file that loses its name meanwhile is counted twice, and not missed.
  const own = nameless();
  return { bytes: kept.bytes + open.bytes + own.bytes, inodes: kept.inodes + open.inodes + own.inodes };
}
