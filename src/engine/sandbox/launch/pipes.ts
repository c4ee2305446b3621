import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, fchmodSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { alive } from '../host.js';

const run = promisify(execFile);
const BATCH = 32;

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
    // The host's name, because containers that share a data folder do not share process ids.
    this.folder = join(
      base,
      `pipes.${hostname().replaceAll('.', '-')}.${process.pid}.${randomBytes(4).toString('hex')}`,
    );
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

  /** A descriptor at the beginning of a nameless file with that content, for standard input; the caller closes it. */
  file(content: Buffer): number {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const path = join(this.folder, randomBytes(8).toString('hex'));
    const fd = openSync(path, 'wx+', 0o600);
    rmSync(path, { force: true });
    try {
      fchmodSync(fd, 0o666);
      let done = 0;
      // At a position: so the descriptor's own stays at the beginning.
      while (done < content.length) done += writeSync(fd, content, done, content.length - done, done);
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
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
      const [kind, host, pid] = name.split('.');
      if (kind !== 'pipes' || host !== hostname().replaceAll('.', '-') || alive(Number(pid))) continue;
      rmSync(join(this.base, name), { recursive: true, force: true });
    }
  }
}
