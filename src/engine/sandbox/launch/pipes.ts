import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, constants, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isLeftOver, ownName } from '../host.js';

const run = promisify(execFile);
const BATCH = 32;
const PREFIX = 'pipes.';

export interface Pipe {
  /** What comes out; not flowing yet. */
  output: Socket;
  /** Descriptor to hand to the child; the caller closes it once the child has it. */
  input: number;
}

/**
 * Real pipes for the output of commands. Node's own are socket pairs, on which `echo x > /dev/stderr` fails with
 * ENXIO (open(2) of a socket), and scripts do that. A FIFO is used once and has no name any more while it is used.
 */
export class Pipes {
  private readonly free: string[] = [];
  private readonly folder: string;
  private making: Promise<void> | undefined;

  constructor(
    private readonly base: string,
    private readonly mkfifo: string,
  ) {
    this.folder = join(base, PREFIX + ownName());
  }

  async take(): Promise<Pipe> {
    while (this.free.length === 0) await (this.making ??= this.make().finally(() => (this.making = undefined)));
    const path = this.free.pop() ?? '';
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
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const path = join(this.folder, randomBytes(8).toString('hex'));
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
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async make(): Promise<void> {
    this.forgetDead();
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const names = Array.from({ length: BATCH }, () => join(this.folder, randomBytes(8).toString('hex')));
    // Writable for all, because the command's uid opens it once more through /dev/stdout; no one finds its name.
    await run(this.mkfifo, ['--mode=0666', ...names], { env: {} });
    this.free.push(...names);
  }

  private forgetDead(): void {
    for (const name of readdirSync(this.base)) {
      if (!name.startsWith(PREFIX) || !isLeftOver(name.slice(PREFIX.length))) continue;
      rmSync(join(this.base, name), { recursive: true, force: true });
    }
  }
}
