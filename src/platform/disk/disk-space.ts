import { existsSync, lstatSync, type StatsFs, statfsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataDir } from '../config/data-dir.js';
import { Env } from '../config/env.js';
import type { Facts } from '../config/safeguards.js';
import { Ballast } from './ballast.js';
import { ownFolders } from './own-folders.js';
import { storageFull } from './storage-full.js';

/** How old an answer may be, in milliseconds. Measuring takes 0.1 ms. */
const MEASURE_MS = 250;
/** The same while less than {@link NEAR} bytes are left above the reserve. */
const NEAR_MS = 50;
const NEAR = 1024 ** 3;
/** Bytes that commands write in a millisecond at the most. While they run, the room above the reserve divided by this is the time to the next measurement. */
const RATE = 4 * 1024 ** 2;
const SHORTEST_MS = 5;
/** A folder may get a file system of its own while the service runs; after so many measurements this class finds it. */
const MEASUREMENTS_PER_SEARCH = 40;
/** Of the default reserve. PostgreSQL writes its log in files of 16 MiB: with less than some of them it stops. */
const [LEAST, MOST] = [128 * 1024 ** 2, 1024 ** 3];
const PART = 0.05;
/** Of a small disk no more than this is reserved. */
const MOST_PART = 0.2;
/** What is kept free of the files that a file system may have: without one PostgreSQL can begin no file of its log. */
const [PART_OF_FILES, MOST_FILES] = [0.05, 20_000];
/** Parts of the reserve: the size of each of the two files of the ballast, and the free space below which the first is deleted. */
const [BALLAST_FILE, SCARCE] = [1 / 4, 1 / 8];
/** Bytes of a file of the ballast at the most: four files of PostgreSQL's log. */
const LARGEST_BALLAST_FILE = 64 * 1024 ** 2;

/**
 * `low`: below the reserve, nothing new is taken in and no command may make its workdir larger. `critical`: below half of it,
 * every command that could still write is ended. The second half is left to PostgreSQL, which stops when it cannot write.
 */
export type SpaceState = 'enough' | 'low' | 'critical';

/** One file system; sizes in bytes. */
interface FileSystem {
  folder: string;
  /** What can be written, and the size of the ballast. */
  free: number;
  /** What can be written at once. */
  writable: number;
  reserve: number;
  /** How many files can be made, and how many of them are kept. Both 0 where the file system has no such limit. */
  files: number;
  keptFiles: number;
  holdsBallast: boolean;
}

/**
 * Free space on the file systems that the service writes to, beside `DISK_RESERVE_BYTES` (reference §16). Asking costs
 * nothing: the answer is at most {@link MEASURE_MS} old, and a file system that hangs leaves the last one.
 */
@Injectable()
export class DiskSpace implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(DiskSpace.name);
  /** Bytes; null for the default, which depends on the file system. */
  private readonly reserve: number | null;
  /** Whether files stay on these disks, and do not only pass through. */
  private readonly keepsFiles: boolean;
  private folders: string[];
  private found: FileSystem[];
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private readonly listeners = new Set<() => void>();
  private measuring: Promise<void> | undefined;
  private measurements = 0;
  /** Null where there is none: without a reserve, and with a database elsewhere. */
  private readonly ballast: Ballast | null;

  constructor(
    env: Env,
    private readonly dataDir: DataDir,
  ) {
    this.keepsFiles = env.variables.STORAGE === 'local';
    this.reserve = env.variables.DISK_RESERVE_BYTES ?? null;
    this.folders = [dataDir.path];
    const own = env.variables.DATABASE_URL === undefined && this.reserve !== 0 && !dataDir.temporary;
    this.ballast = own ? new Ballast(dataDir.path) : null;
    // At once, because the sandbox is tried before all parts of the process are ready.
    this.found = [this.judge(dataDir.path, statfsSync(dataDir.path))];
  }

  async onModuleInit(): Promise<void> {
    await this.measure();
    this.keepBallast();
    this.measureLater();
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  get state(): SpaceState {
    const states = this.found.map(stateOf);
    return states.find((one) => one === 'critical') ?? states.find((one) => one === 'low') ?? 'enough';
  }

  /** The file system with the least to spare, in bytes. */
  get scarcest(): { free: number; reserve: number } {
    const [first, ...rest] = this.found;
    if (first === undefined) return { free: 0, reserve: 0 };
    return rest.reduce((least, one) => (one.free - one.reserve < least.free - least.reserve ? one : least), first);
  }

  /** Bytes above the reserve, where there are the fewest: no single file should take more. */
  get room(): number {
    const { free, reserve } = this.scarcest;
    return Math.max(0, free - reserve);
  }

  /** For the safeguards of the process. */
  get report(): Facts {
    if (this.reserve === 0) {
      return { missing: ['DISK_RESERVE_BYTES is 0: nothing is refused before a disk is full.'] };
    }
    const kept = this.found.map(({ reserve }) => Math.round(reserve / 1024 ** 2));
    return { inForce: [`Kept free on the disks of the service: ${kept.join(' MiB, ')} MiB.`] };
  }

  /** Throws `storage_full` while there is less space than the reserve. */
  require(): void {
    if (this.state !== 'enough') throw storageFull();
  }

  /**
   * {@link require} for a file. Where another storage keeps files (`STORAGE`), one is on these disks for a moment at the most: they
   * may go below the reserve, but not below the half that is PostgreSQL's.
   */
  requireForFile(): void {
    if (this.keepsFiles ? this.state !== 'enough' : this.state === 'critical') throw storageFull();
  }

  /** Calls the listener after each measurement that finds less space than the reserve, until {@link unlisten}. */
  listen(listener: () => void): void {
    this.listeners.add(listener);
  }

  unlisten(listener: () => void): void {
    this.listeners.delete(listener);
  }

  /** Measures now; resolves when the answer is new. */
  async measure(): Promise<void> {
    await (this.measuring ??= this.measureAll().finally(() => (this.measuring = undefined)));
  }

  private measureLater(): void {
    if (this.stopped) return;
    const { free, reserve } = this.scarcest;
    const room = free - reserve;
    const near = room < NEAR && reserve > 0 ? NEAR_MS : MEASURE_MS;
    const after = this.listeners.size > 0 && reserve > 0 ? Math.min(near, Math.max(SHORTEST_MS, room / RATE)) : near;
    this.timer = setTimeout(() => void this.measure().then(() => this.measureLater()), after).unref();
  }

  private async measureAll(): Promise<void> {
    if (this.measurements++ % MEASUREMENTS_PER_SEARCH === 0) this.folders = await this.search();
    const before = this.state;
    const found = await Promise.all(
      this.folders.map((folder) => statfs(folder).then((one) => this.judge(folder, one), () => null)),
    ); // prettier-ignore
    // The readiness check reports a data folder that is away; here the last answer stays.
    if (found.every((one) => one !== null)) this.found = found;
    if ((before === 'enough') !== (this.state === 'enough')) this.logState();
    if (this.state !== 'enough') for (const listener of this.listeners) listener();
    if (this.timer !== undefined) this.keepBallast();
  }

  /** Deletes a file of the ballast when the disk is nearly full, and makes it again when there is room. */
  private keepBallast(): void {
    const { ballast } = this;
    const disk = this.found.find((one) => one.holdsBallast);
    if (ballast === null || disk === undefined || this.stopped) return;
    const { free, writable, reserve } = disk;
    // The second file is for a start of PostgreSQL.
    if (writable < reserve * SCARCE && ballast.deleteOne(1)) this.logger.warn('The disk is full: a part of the ballast was given to the database.');
    if (free < reserve || ballast.files.every((path) => existsSync(path))) return;
    ballast.make(Math.floor(Math.min(LARGEST_BALLAST_FILE, reserve * BALLAST_FILE))).catch((error: unknown) => this.logger.debug(`No ballast: ${String(error)}`));
  } // prettier-ignore

  private isOnDiskOf(ballast: Ballast, folder: string): boolean {
    const [one, other] = [folder, ballast.folder].map((path) => lstatSync(path, { throwIfNoEntry: false })?.dev);
    return one !== undefined && one === other;
  }

  /** One folder of each file system. */
  private async search(): Promise<string[]> {
    const all = await ownFolders(this.dataDir.path);
    const devices = await Promise.all(all.map((folder) => stat(folder).then(({ dev }) => dev, () => null))); // prettier-ignore
    return all.filter((_, n) => devices[n] !== null && devices.indexOf(devices[n] ?? null) === n);
  }

  // `bavail` and not `bfree`: PostgreSQL runs as an ordinary user, whom the kernel's own reserve is closed to.
  private judge(folder: string, { bsize, blocks, bavail, files, ffree }: StatsFs): FileSystem {
    const size = blocks * bsize;
    const reserve = this.reserve ?? Math.floor(Math.min(MOST, Math.max(size * PART, Math.min(LEAST, size * MOST_PART))));
    const ballast = this.ballast !== null && this.isOnDiskOf(this.ballast, folder) ? this.ballast : null;
    const writable = bavail * bsize;
    return { folder, free: writable + (ballast?.size ?? 0), holdsBallast: ballast !== null, writable, reserve, files: ffree, keptFiles: reserve === 0 ? 0 : Math.floor(Math.min(MOST_FILES, files * PART_OF_FILES)) };
  } // prettier-ignore

  private logState(): void {
    const { free, reserve } = this.scarcest;
    if (this.state === 'enough') {
      this.logger.log(`There is space again: ${free} bytes are free.`);
      return;
    }
    const files = this.found.find((one) => one.free >= one.reserve && stateOf(one) !== 'enough');
    const what = files === undefined ? `${free} bytes are free, fewer than the reserve of ${reserve}` : `${files.files} files can still be made, fewer than the ${files.keptFiles} that are kept`;
    this.logger.warn(`Only ${what}: new data is refused (503 storage_full) and queued runs wait.`);
  } // prettier-ignore
}

/** What the watch on a command's workdir needs of it. */
export type WatchedSpace = Pick<DiskSpace, 'state' | 'room' | 'measure' | 'listen' | 'unlisten'>;

/** For the trial of a sandbox, whose command is our own and small: a service has to boot on a full disk, so that tasks can be deleted. */
export const UNWATCHED: WatchedSpace = {
  state: 'enough',
  room: Number.MAX_SAFE_INTEGER,
  measure: () => Promise.resolve(),
  listen: () => undefined,
  unlisten: () => undefined,
};

/** Of one file system. */
function stateOf({ free, writable, reserve, files, keptFiles }: FileSystem): SpaceState {
  if (free >= reserve && files >= keptFiles) return 'enough';
  // The last quarter that can be written at once: a half of the reserve may lie in the ballast.
  return free < reserve / 2 || writable < reserve / 4 || files < keptFiles / 2 ? 'critical' : 'low';
}
