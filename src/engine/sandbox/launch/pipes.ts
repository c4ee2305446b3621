import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLeftOver, ownName, run } from '../host.js';

const BATCH = 32;
const PREFIX = 'millwright-pipes-';
/** In the folder: whose it is, to remove it when its owner was killed. */
const OWNER = 'owner';

export interface Pipe {
  /** What comes out; not flowing yet. */
  output: Socket;
  /** Descriptor to hand to the child; the caller closes it once the child has it. */
  input: number;
}

/**
 * Real pipes for the output of commands. Node's own are socket pairs, on which `echo x > /dev/stderr` fails with
 * ENXIO (open(2) of a socket), and scripts do that. A FIFO is used once and has no name any more while it is used.
 *
 * The name that it had is what a command reads from /proc/self/fd/1. So the folder is one of the system's for temporary files, with a name of
 * chance: a command learns neither where the data folder is nor the id of the service's process.
 */
export class Pipes {
  private readonly free: string[] = [];
  private folder: string | undefined;
  private making: Promise<void> | undefined;

  constructor(private readonly mkfifo: string) {}

  async open(): Promise<Pipe> {
    const path = await this.path();
    const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const input = openSync(path, constants.O_WRONLY);
      return { output: new Socket({ fd: read, readable: true, writable: false }), input };
    } catch (error) {
      closeSync(read);
      throw error;
    } finally {
      rmSync(path, { force: true });
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
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true });
    this.folder = undefined;
  }

  private async make(): Promise<void> {
    const names = Array.from({ length: BATCH }, () => this.newPath());
    // Writable for all, because the command's uid opens it once more through /dev/stdout; no one finds its name.
    await run(this.mkfifo, ['--mode=0666', ...names], { env: {} });
    this.free.push(...names);
  }

  /** Of a FIFO that is there: what cleans the folder for temporary files may have removed some. */
  private async path(): Promise<string> {
    for (;;) {
      const path = this.free.pop();
      if (path === undefined) await (this.making ??= this.make().finally(() => (this.making = undefined)));
      else if (existsSync(path)) return path;
    }
  }

  private newPath(): string {
    if (this.folder === undefined || !existsSync(this.folder)) this.folder = makeFolder();
    return join(this.folder, randomBytes(8).toString('hex'));
  }
}

/** Of this process alone: 0700. Removes those of processes that were killed. */
function makeFolder(): string {
  for (const name of readdirSync(tmpdir())) {
    if (name.startsWith(PREFIX)) removeLeftOver(join(tmpdir(), name));
  }
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  writeFileSync(join(folder, OWNER), ownName());
  return folder;
}

/** Anybody may make such a folder: what another user has put there is not even read. */
function removeLeftOver(folder: string): void {
  try {
    const stat = lstatSync(folder);
    if (!stat.isDirectory() || stat.uid !== process.geteuid?.()) return;
    if (isLeftOver(readFileSync(join(folder, OWNER), 'utf8'))) rmSync(folder, { recursive: true, force: true });
  } catch {
    // It is being made or removed.
  }
}
