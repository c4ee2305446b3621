// The programs beside this file, which read and write folders, and how the service talks with one (docs/decisions/0091).
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { findProgram, isRoot, run } from '../sandbox/host.js';
import { Wire, type WireRecord } from './wire.mjs';

/** Short-lived things have room enough from the beginning that they are seldom collected, and no further threads collect them. */
const MEMORY = [
  '--max-old-space-size=1024',
  '--max-semi-space-size=64',
  '--min-semi-space-size=64',
  '--single-threaded-gc',
];

type Started = ChildProcessByStdio<Writable, Readable, Readable>;

export class Program {
  private readonly wire: Wire;
  private said = '';

  private constructor(
    private readonly name: string,
    private readonly started: Started,
    /** Has the exit code, null for a signal. */
    private readonly ended: Promise<[number | null]>,
  ) {
    this.wire = new Wire(started.stdout, started.stdin);
    started.stderr.on('data', (text: Buffer) => (this.said += this.said.length < 4_000 ? text.toString() : ''));
    // What it no longer reads is told by its end.
    started.stdin.on('error', () => undefined);
  }

  /** Rejects when it cannot be started, such as for want of processes. */
  static async start(name: 'capture' | 'restore'): Promise<Program> {
    const file = fileURLToPath(new URL(`./${name}.child.mjs`, import.meta.url));
    const [program = '', ...args] = [...(await allSeeing()), process.execPath, ...MEMORY, file];
    const started = spawn(program, args, { env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' }, stdio: 'pipe' });
    const ended = once(started, 'close') as Promise<[number | null]>;
    ended.catch(() => undefined);
    await once(started, 'spawn');
    return new Program(name, started, ended);
  }

  /** Performs `talk`. When that rejects, the program has ended. Rejects with the reason of the signal, when it comes. */
  async perform<T>(signal: AbortSignal, talk: () => Promise<T>): Promise<T> {
    const done = new AbortController();
    // The storage may hang when the signal comes.
    const aborted = once(signal, 'abort', { signal: done.signal }).then((): never => {
      throw signal.reason;
    });
    aborted.catch(() => undefined);
    try {
      signal.throwIfAborted();
      return await Promise.race([talk(), aborted]);
    } catch (error) {
      await this.end();
      throw error;
    } finally {
      done.abort();
    }
  }

  send(type: string, body?: string | Buffer): Promise<void> {
    return this.wire.send(type, body);
  }

  async receive(): Promise<WireRecord> {
    const record = await this.wire.receive();
    if (record !== null) return record;
    const [code] = await this.ended;
    throw new Error(`The program that should ${this.name} folders has ended with ${code}: ${this.said.trim()}`);
  }

  async end(): Promise<void> {
    this.started.kill('SIGKILL');
    this.started.stdout.destroy();
    await this.ended.catch(() => undefined);
  }

  /** The service stays for it. False when it has ended. */
  hold(): boolean {
    for (const one of this.handles()) one.ref();
    return this.started.exitCode === null && this.started.signalCode === null;
  }

  /** The service ends without it; then it ends too, for it reads from the service. */
  release(): void {
    for (const one of this.handles()) one.unref();
  }

  private handles(): { ref(): void; unref(): void }[] {
    const { stdin, stdout, stderr } = this.started;
    return [this.started, ...([stdin, stdout, stderr] as unknown as Socket[])];
  }
}

let unshare: Promise<string[]> | undefined;

/** Before a command. Root of a user namespace may read files and folders that their owner has closed. Where there is none, those are left out. */
function allSeeing(): Promise<string[]> {
  return (unshare ??= isRoot() ? Promise.resolve([]) : namespace());
}

async function namespace(): Promise<string[]> {
  const program = findProgram('unshare');
  if (program === null) return [];
  const how = ['--user', '--map-root-user'];
  return run(program, [...how, 'true'], { env: { PATH: '/usr/bin:/bin' } }).then(
    () => [program, ...how],
    () => [],
  );
}
