import { statfsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataDir } from '../config/data-dir.js';
import { Env } from '../config/env.js';
import type { Facts } from '../config/safeguards.js';
import { ownFolders } from './own-folders.js';
import { storageFull } from './storage-full.js';

/** How old an answer may be, in milliseconds. One look takes 0.1 ms. */
const LOOK_MS = 250;
/** The same while less than {@link NEAR} bytes are left above the reserve: a command writes a gigabyte a second. */
const NEAR_MS = 50;
const NEAR = 1024 ** 3;
/** A folder may get a file system of its own while the service runs; so many looks later it is known. */
const LOOKS_PER_SEARCH = 40;
const MOST = 1024 ** 3;
const SHARE = 0.05;

/**
 * `low`: below the reserve, nothing new is taken in and no command may make its workdir larger. `critical`: below half of it,
 * every command that could still write is ended. The second half is left to PostgreSQL, which stops when it cannot write.
 */
export type SpaceState = 'enough' | 'low' | 'critical';

interface FileSystem {
  folder: string;
  /** Bytes. */
  free: number;
  reserve: number;
}

/**
 * Free space on the file systems that the service writes to, beside `DISK_RESERVE_BYTES` (reference §16). Asking costs
 * nothing: the answer is at most {@link LOOK_MS} old, and a file system that hangs leaves the last one.
 */
@Injectable()
export class DiskSpace implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(DiskSpace.name);
  /** Bytes; null for the default, which depends on the file system. */
  private readonly reserve: number | null;
  private folders: string[];
  private found: FileSystem[];
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private readonly listeners = new Set<() => void>();
  private looking: Promise<void> | undefined;
  private looks = 0;

  constructor(
    env: Env,
    private readonly dataDir: DataDir,
  ) {
    this.reserve = env.variables.DISK_RESERVE_BYTES ?? null;
    this.folders = [dataDir.path];
    // At once, because the sandbox is tried before all parts of the process are ready.
    this.found = [this.judge(dataDir.path, statfsSync(dataDir.path))];
  }

  async onModuleInit(): Promise<void> {
    await this.look();
    this.lookLater();
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

  /** Has it called after each look that finds less space than the reserve, until {@link unlisten}. */
  listen(listener: () => void): void {
    this.listeners.add(listener);
  }

  unlisten(listener: () => void): void {
    this.listeners.delete(listener);
  }

  /** Looks now; resolves when the answer is new. */
  async look(): Promise<void> {
    await (this.looking ??= this.lookAll().finally(() => (this.looking = undefined)));
  }

  private lookLater(): void {
    if (this.stopped) return;
    const { free, reserve } = this.scarcest;
    const after = free - reserve < NEAR && reserve > 0 ? NEAR_MS : LOOK_MS;
    this.timer = setTimeout(() => void this.look().then(() => this.lookLater()), after).unref();
  }

  private async lookAll(): Promise<void> {
    if (this.looks++ % LOOKS_PER_SEARCH === 0) this.folders = await this.search();
    const before = this.state;
    const found = await Promise.all(
      this.folders.map((folder) => statfs(folder).then((one) => this.judge(folder, one), () => null)),
    ); // prettier-ignore
    // A data folder that is away is the readiness check's business; the last answer stands.
    if (found.every((one) => one !== null)) this.found = found;
    if ((before === 'enough') !== (this.state === 'enough')) this.tell();
    if (this.state !== 'enough') for (const listener of this.listeners) listener();
  }

  /** One folder of each file system. */
  private async search(): Promise<string[]> {
    const all = await ownFolders(this.dataDir.path);
    const devices = await Promise.all(all.map((folder) => stat(folder).then(({ dev }) => dev, () => null))); // prettier-ignore
    return all.filter((_, n) => devices[n] !== null && devices.indexOf(devices[n] ?? null) === n);
  }

  // `bavail` and not `bfree`: PostgreSQL runs as an ordinary user, whom the kernel's own reserve is closed to.
  private judge(folder: string, { bsize, blocks, bavail }: { bsize: number; blocks: number; bavail: number }): FileSystem {
    const reserve = this.reserve ?? Math.min(MOST, Math.floor(blocks * bsize * SHARE));
    return { folder, free: bavail * bsize, reserve };
  } // prettier-ignore

  private tell(): void {
    const { free, reserve } = this.scarcest;
    if (this.state === 'enough') this.logger.log(`There is space again: ${free} bytes are free.`);
    else {
      this.logger.warn(
        `Only ${free} bytes are free, fewer than the reserve of ${reserve}: new data is refused (503 storage_full) and queued runs wait.`,
      );
    }
  }
}

function stateOf({ free, reserve }: FileSystem): SpaceState {
  if (free >= reserve) return 'enough';
  return free >= reserve / 2 ? 'low' : 'critical';
}
