import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Heartbeat } from '../heartbeat.js';
import { SandboxError } from '../sandbox.js';
import type { Pipes } from './pipes.js';

/** The program that makes one box and starts its first process. */
export interface LaunchCommand {
  argv: string[];
  /** What its program finds on descriptor 6. */
  file: Buffer;
}

// When the first process inside has not reported by then, its parent is killed, and it dies with that.
const KILL_AGAIN_MS = 2000;
/** Of what the makers of a box write on their standard error, which says why there is none. */
const MOST_ERROR = 4096;
const LAST_ERROR_MS = 50;

/** The processes that hold one box: a small parent that lives by the heartbeat, what makes the walls, and the first one inside. */
export class Launch {
  /** First process inside, as the host numbers it. */
  first: number | undefined;
  /** Says what commands are to begin, and what becomes of them. */
  readonly control: Duplex;
  /** Resolves with false when there will be no box: nothing inside has begun. */
  readonly stands: Promise<boolean>;
  /** Resolves when all of it is gone. */
  readonly ended: Promise<void>;
  over = false;
  private readonly child: ChildProcess;
  private started = false;
  private killed = false;
  private errors = '';
  private code: number | null = null;

  constructor(
    private readonly resources: { pipes: Pipes; heartbeat: Heartbeat },
    { argv, file }: LaunchCommand,
  ) {
    const forMaker = resources.pipes.file(file);
    try {
      const stdio = ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'pipe', forMaker, 'pipe'] as const;
      this.child = spawn(argv[0] ?? '', argv.slice(1), { cwd: '/', env: {}, detached: true, stdio: [...stdio] });
    } finally {
      closeSync(forMaker);
    }
    const { child } = this;
    this.control = child.stdio[7 as 3] as Duplex;
    this.control.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      const end = () => {
        this.over = true;
        child.stdio.forEach((stream) => stream?.destroy());
        resolve();
      };
      child.once('exit', (code) => {
        this.code = code;
        // What was written until then says why it did not start.
        if (this.started) end();
        else setTimeout(end, LAST_ERROR_MS);
      });
      child.once('error', (error) => {
        this.errors = error.message;
        end();
      });
    });
    this.stands = this.watch(child);
  }

  /** Why there is no box. */
  get failure(): SandboxError {
    return new SandboxError(`The sandbox did not start: ${this.errors.trim() || `exit code ${this.code}`}`);
  }

  /** Ends all of it at once. */
  kill(): void {
    if (this.over) return;
    this.killed = true;
    // The first process and not the parent: that one then waits until the kernel has ended all the others. Only when the
    // box stands: bubblewrap would wait forever for a child that is gone before.
    if (this.first !== undefined && this.started) signal(this.first, 'SIGKILL');
    setTimeout(() => !this.over && this.endHeartbeats(''), KILL_AGAIN_MS).unref();
  }

  private watch(child: ChildProcess): Promise<boolean> {
    const { heartbeat } = this.resources;
    const [errors, beats, life, started] = child.stdio.slice(2) as [Readable, Writable, Readable, Readable];
    for (const stream of [errors, beats, life, started]) stream.on('error', () => undefined);
    errors.on('data', (chunk: Buffer) => (this.errors = (this.errors + chunk.toString()).slice(0, MOST_ERROR)));
    heartbeat.add(beats);
    beats.once('close', () => heartbeat.remove(beats));
    child.once('exit', () => heartbeat.remove(beats));
    life.once('end', () => this.endHeartbeats('q'));
    return new Promise((resolve) => {
      // One comes on another pipe than the other, in whatever order.
      const heard = () => {
        // Asked to end before there was anything to end.
        if (this.killed) this.kill();
        if (this.started && this.first !== undefined) resolve(true);
      };
      started.once('data', () => {
        this.started = true;
        heard();
      });
      let text = '';
      life.on('data', (chunk: Buffer) => {
        // What comes later is of no use, and would be kept.
        if (this.first !== undefined) return;
        text += chunk.toString('latin1');
        const pid = /pid"?:? *(\d+)\D/.exec(text)?.[1];
        if (pid === undefined) return;
        this.first = Number(pid);
        heard();
      });
      void this.ended.then(() => resolve(false));
    });
  }

  private endHeartbeats(last: string): void {
    (this.child.stdio[3] as Writable | null)?.end(last);
  }
}

export function signal(pid: number, name: 'SIGINT' | 'SIGKILL' | 'SIGSTOP' | 'SIGTERM'): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already.
  }
}
