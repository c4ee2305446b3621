import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// It goes with the process that asked for it, however that ends: the shell then reads the end of its input.
const KEEPER = `mount -t tmpfs -o "size=$2,mode=0755" small "$1" && echo mounted && read -r _; umount -l "$1"; rmdir "$1"`;

/** A file system of its own, in memory, with a limit of its size. Only root may make one. */
export class SmallDisk {
  private constructor(
    readonly path: string,
    private readonly keeper: ChildProcess,
  ) {}

  /** Whether this machine lets us have one; the reason goes to the log when not. */
  static readonly possible = ((): boolean => {
    const tried = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'small', tmpdir()]);
    if (tried.status === 0) return true;
    process.stderr.write('The tests of a full disk are left out: only root may mount a tmpfs.\n');
    return false;
  })();

  static async make(bytes: number): Promise<SmallDisk> {
    const path = mkdtempSync(join(tmpdir(), 'millwright-small-'));
    const keeper = spawn('sh', ['-c', KEEPER, 'keeper', path, String(bytes)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    const said = await Promise.race([once(keeper.stdout, 'data'), once(keeper, 'exit')]);
    if (!String(said[0]).startsWith('mounted')) {
      rmdirSync(path);
      throw new Error('No tmpfs could be mounted.');
    }
    return new SmallDisk(path, keeper);
  }

  async remove(): Promise<void> {
    const gone = once(this.keeper, 'exit');
    this.keeper.stdin?.end();
    await gone;
  }
}
