// Sizes of folders on disk. Small ones are walked in this process, all others by du(1).
import { lstatSync, opendirSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, isRoot, needProgram, run } from '../host.js';

/** Of so many files a walk takes 0.3 ms; to start du(1) takes 2 ms of this process, and 1 ms of its own. */
const FEW = 64;
/** Deeper ones are left to du(1). */
const DEPTH = 8;

/** What is kept under some names; a file that has several counts once. */
export interface Size {
  bytes: number;
  inodes: number;
}

/** The size of folders on disk, together. Follows no link and stays in the file system of each. */
export async function sizeOf(folders: string[]): Promise<Size> {
  const few = sizeOfFew(folders);
  if (few !== null) return few;
  // du(1) reports either.
  const [bytes, inodes] = await Promise.all([du('--block-size=1', folders), du('--inodes', folders)]);
  return { bytes, inodes };
}

/** Bytes of folders on disk, together. */
export async function bytesOf(...folders: string[]): Promise<number> {
  return sizeOfFew(folders)?.bytes ?? (await du('--block-size=1', folders));
}

/** Null when there are too many files for a walk, or something that only du(1) can open. */
function sizeOfFew(folders: string[]): Size | null {
  const walk = new Walk();
  try {
    return folders.every((folder) => walk.into(folder)) ? walk.size : null;
  } catch {
    return null;
  }
}

/** A program that still runs may replace a folder by a link: the walk then counts at most so many files elsewhere. */
class Walk {
  readonly size: Size = { bytes: 0, inodes: 0 };
  private readonly severalNames = new Set<number>();

  /** False when there is too much. */
  into(folder: string): boolean {
    const { dev } = lstatSync(folder);
    return this.add(folder, dev, DEPTH);
  }

  private add(path: string, device: number, deep: number): boolean {
    const found = lstatSync(path);
    if (found.dev !== device) return true;
    if (!found.isDirectory() && found.nlink > 1) {
      if (this.severalNames.has(found.ino)) return true;
      this.severalNames.add(found.ino);
    }
    this.size.inodes += 1;
    // stat(2) counts in 512 bytes whatever the file system.
    this.size.bytes += found.blocks * 512;
    if (this.size.inodes > FEW || deep === 0) return false;
    return !found.isDirectory() || this.names(path).every((name) => this.add(join(path, name), device, deep - 1));
  }

  /** Not more of them than the walk takes, however many there are. */
  private names(path: string): string[] {
    const folder = opendirSync(path);
    try {
      const names: string[] = [];
      for (let entry = folder.readSync(); entry !== null && names.length <= FEW; entry = folder.readSync()) {
        names.push(entry.name);
      }
      return names;
    } finally {
      folder.closeSync();
    }
  }
}

async function du(what: string, folders: string[]): Promise<number> {
  const command = [needProgram('du', 'coreutils'), '-sx', what, '--', ...folders];
  // Root of a user namespace may look into folders that their owner has closed.
  const unshare = isRoot() ? null : findProgram('unshare');
  const [program = '', ...args] = unshare === null ? command : [unshare, '--user', '--map-root-user', ...command];
  // It complains when a file goes away under it and counts the rest; only its numbers matter, one for each folder.
  const { stdout } = await run(program, args, { env: {} }).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }));
  const numbers = stdout.match(/^\d+/gm);
  if (numbers === null) throw new Error('du(1) has printed no number');
  return numbers.reduce((sum, number) => sum + Number(number), 0);
}
