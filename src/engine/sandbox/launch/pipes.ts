import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { isLeftOver, ownName, run } from '../host.js';

const BATCH = 32;
/** Of the folders of pipes, one for each process. */
const PREFIX = 'pipes.';

/** A pipe with a name, both ends of which the service has open until somebody else has opened his. */
export interface Pipe {
  /** The end of the service; not flowing yet. */
  own: Socket;
  /** The other one; the caller closes it. */
  other: number;
}

/**
 * Real pipes for the streams of commands. Node's own are socket pairs, on which `echo x > /dev/stderr` fails with
 * ENXIO (open(2) of a socket), and scripts do that. A FIFO is used once and has no name any more while it is used.
 *
 * Each box has a folder of them, which is mounted inside. Nobody inside can list it, and the names are of chance.
 */
export class Pipes {
  private readonly free: string[] = [];
  private folder: string | undefined;
  private making: Promise<void> | undefined;

  /** @param base reached by the users of commands. */
  constructor(
    private readonly mkfifo: string,
    private readonly base: string,
  ) {}

  /** A folder for one box; the caller removes it with {@link removePipes}. */
  place(): string {
    const path = this.newPath();
    mkdirSync(path);
    // Its owner may be the user inside: he cannot list it either, and it is mounted read-only.
    chmodSync(path, 0o311);
    return path;
  }

  /** Makes FIFOs of these names in a folder. */
  async make(folder: string, names: readonly string[]): Promise<void> {
    for (const name of names) {
      for (;;) {
        const path = this.free.pop();
        if (path === undefined) await (this.making ??= this.makeMore().finally(() => (this.making = undefined)));
        else if (existsSync(path)) {
          renameSync(path, join(folder, name));
          break;
        }
      }
    }
  }

  /** A descriptor of a nameless file with that content, for reading alone; the caller closes it. */
  file(content: Buffer): number {
    const path = this.newPath();
    try {
      // For all, because the program that makes the sandbox opens it once more by the descriptor, under its own uid.
      writeFileSync(path, content, { mode: 0o444, flag: 'wx' });
      chmodSync(path, 0o444);
      return openSync(path, 'r');
    } finally {
      rmSync(path, { force: true });
    }
  }

  close(): void {
    this.free.length = 0;
    if (this.folder !== undefined) removeAll(this.folder);
    this.folder = undefined;
  }

  private async makeMore(): Promise<void> {
    const names = Array.from({ length: BATCH }, () => this.newPath());
    // Writable for all, because the command's uid opens it by its name, and once more through /dev/stdout.
    await run(this.mkfifo, ['--mode=0666', ...names], { env: {} });
    this.free.push(...names);
  }

  private newPath(): string {
    if (this.folder === undefined || !existsSync(this.folder)) this.folder = makeFolder(this.base);
    return join(this.folder, randomBytes(8).toString('hex'));
  }
}

/** Opens a FIFO from both ends: for reading without waiting, and then for writing, which finds a reader. */
export function openPipe(path: string, which: 'read' | 'write'): Pipe {
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const write = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    if (which === 'read') return { own: new Socket({ fd: read, readable: true, writable: false }), other: write };
    return { own: new Socket({ fd: write, readable: false, writable: true }), other: read };
  } catch (error) {
    closeSync(read);
    throw error;
  }
}

/** Removes the folder of one box. An ordinary user can remove nothing from a folder that he may not list. */
export function removePipes(folder: string): void {
  if (!existsSync(folder)) return;
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true, force: true });
}

/** The folder of a process, with those of its boxes. */
function removeAll(folder: string): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removePipes(join(folder, entry.name));
  rmSync(folder, { recursive: true, force: true });
}

/** Of this process. Removes those of processes that were killed. */
function makeFolder(base: string): string {
  for (const name of readdirSync(base)) {
    if (name.startsWith(PREFIX) && isLeftOver(name.slice(PREFIX.length))) removeAll(join(base, name));
  }
  const folder = join(base, PREFIX + ownName());
  mkdirSync(folder);
  // Users of commands walk through it.
  chmodSync(folder, 0o711);
  return folder;
}
