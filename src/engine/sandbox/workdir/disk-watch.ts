import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { findProgram, isRoot, needProgram } from '../host.js';

const run = promisify(execFile);
const TICK_MS = 1000;
// A full look at least so often: files that others delete meanwhile hide what the workdir has grown by.
const LOOK_MS = 10_000;
// ext4 makes an inode for each 16 KiB (mke2fs.conf); the same ratio bounds the number of files.
const BYTES_PER_INODE = 16 * 1024;

interface Size {
  bytes: number;
  inodes: number;
}

/**
 * Watches the size of a workdir while commands run. Each second it asks only how much the whole file system has grown,
 * which the workdir cannot exceed; when that could break the limit, and now and then, du(1) looks at the workdir itself.
 */
export class DiskWatch {
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  /** Size at the last look; null before the first. */
  private last: (Size & { at: number; total: Size }) | null = null;
  private users = 0;
  private starts = 0;

  constructor(
    private readonly workdir: string,
    private readonly limitBytes: number,
    private readonly exceeded: () => void,
  ) {}

  start(): void {
    this.users += 1;
    this.starts += 1;
    this.timer ??= setInterval(() => void this.tick(), TICK_MS).unref();
  }

  stop(): void {
    this.users -= 1;
    if (this.users > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
    // Many short commands must not add up unseen: the next one is ended when it goes on growing.
    void this.tick();
  }

  /** As of the last look; null before the first. */
  get bytes(): number | null {
    return this.last?.bytes ?? null;
  }

  /** Resolves when it looks at nothing any more. */
  async idle(): Promise<void> {
    await this.looking;
  }

  private async tick(): Promise<void> {
    await (this.looking ??= this.look().finally(() => (this.looking = undefined)));
  }

  private async look(): Promise<void> {
    // A command that starts during the look is not to blame for what it finds.
    const starts = this.users > 0 ? this.starts : null;
    const total = await totalOf(this.workdir).catch(() => null);
    if (total === null) return;
    if (this.last !== null && Date.now() - this.last.at < LOOK_MS && !this.over(grown(this.last, total))) return;
    const size = await measure(this.workdir).catch(() => null);
    if (size === null) return;
    const before = this.last;
    this.last = { ...size, at: Date.now(), total };
    // A command that makes it smaller goes on: without it a full workdir could not be emptied.
    const shrinking = before !== null && size.bytes < before.bytes && size.inodes <= before.inodes;
    if (this.over(size) && !shrinking && starts === this.starts && this.users > 0) this.exceeded();
  }

  private over({ bytes, inodes }: Size): boolean {
    return bytes > this.limitBytes || inodes > Math.max(1000, this.limitBytes / BYTES_PER_INODE);
  }
}

function grown(last: Size & { total: Size }, total: Size): Size {
  return {
    bytes: last.bytes + Math.max(0, total.bytes - last.total.bytes),
    inodes: last.inodes + Math.max(0, total.inodes - last.total.inodes),
  };
}

async function totalOf(path: string): Promise<Size> {
  const { bsize, blocks, bfree, files, ffree } = await statfs(path);
  return { bytes: (blocks - bfree) * bsize, inodes: files - ffree };
}

/** Two looks, because du(1) reports either; it follows no link and stays in the file system. */
async function measure(workdir: string): Promise<Size> {
  const [bytes, inodes] = await Promise.all([du('--block-size=1', workdir), du('--inodes', workdir)]);
  return { bytes, inodes };
}

/** Bytes that a folder takes on disk. */
export function bytesOf(folder: string): Promise<number> {
  return du('--block-size=1', folder);
}

async function du(what: string, workdir: string): Promise<number> {
  const command = [needProgram('du', 'coreutils'), '-sx', what, '--', workdir];
  // Root of a user namespace may look into folders that their owner has closed.
  const unshare = isRoot() ? null : findProgram('unshare');
  const [program = '', ...args] = unshare === null ? command : [unshare, '--user', '--map-root-user', ...command];
  // It complains when a file goes away under it and counts the rest; only its number matters.
  const { stdout } = await run(program, args, { env: {} }).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }));
  const number = Number.parseInt(stdout, 10);
  if (Number.isNaN(number)) throw new Error('du(1) has printed no number');
  return number;
}
