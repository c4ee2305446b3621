// Room that the embedded database has when a disk is full (docs/decisions/0068): two files beside its folder. The first is given up
// while the service runs, so that PostgreSQL can write and tasks can be deleted; the second when PostgreSQL has to start.
import { execFile } from 'node:child_process';
import { existsSync, lstatSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { databaseFolder } from './own-folders.js';

const run = promisify(execFile);
const NAMES = ['ballast.1', 'ballast.2'];
/** A start of PostgreSQL writes a few files, and a file of its log has 16 MiB. */
const TO_START = 16 * 1024 ** 2;

export class Ballast {
  /** The folder of the files: on the file system of the database, unless its folder alone is one. */
  readonly folder: string;
  readonly files: readonly string[];
  private making: Promise<void> | undefined;

  constructor(dataDir: string) {
    // Never in the folder of the database itself, where root would write among files of another user.
    this.folder = dirname(databaseFolder(dataDir));
    this.files = NAMES.map((name) => join(this.folder, name));
  }

  /** In bytes. */
  get size(): number {
    // stat(2) counts in 512 bytes whatever the file system.
    return this.files.reduce((sum, path) => sum + (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512, 0);
  }

  /** Deletes one file while there are more than `kept`. False when it deletes none. */
  deleteOne(kept: number): boolean {
    const there = this.files.filter((path) => existsSync(path));
    const [file] = there;
    if (file === undefined || there.length <= kept) return false;
    rmSync(file, { force: true });
    return true;
  }

  /** Before PostgreSQL starts: deletes one file when the disk is too full for that. */
  makeRoomToStart(): void {
    const { bsize, bavail } = statfsSync(this.folder);
    if (bsize * bavail < TO_START) this.deleteOne(0);
  }

  /** Makes the files that are missing, of so many bytes each; resolves when nothing is under way. Rejects where the disk has no room. */
  async make(bytes: number): Promise<void> {
    await (this.making ??= this.makeAll(bytes).finally(() => (this.making = undefined)));
  }

  private async makeAll(bytes: number): Promise<void> {
    for (const file of this.files.filter((path) => !existsSync(path))) {
      const draft = `${file}.new`;
      try {
        rmSync(draft, { force: true });
        // posix_fallocate(3) takes the blocks without writing them, and writes where the file system cannot.
        await run('fallocate', ['--posix', '--length', String(bytes), draft]);
        renameSync(draft, file);
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
    }
  }
}
