// A sandbox for unit tests of the agent: a temporary folder and child processes. It protects nothing.
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { rgPath } from '@vscode/ripgrep';
import { removeTree } from '../../src/platform/config/reachable.js';
import { Arrival, streamsOf } from '../../src/engine/sandbox/launch/arrival.js';
import { Output } from '../../src/engine/sandbox/launch/output.js';
import type { RunningCommand, TerminalSize } from '../../src/engine/sandbox/running-command.js';
import type { RunResult } from '../../src/engine/sandbox/run-result.js';
import {
  type RunOptions,
  Sandbox,
  SandboxFileError,
  type SandboxOpenOptions,
  type SandboxReport,
  SandboxSession,
} from '../../src/engine/sandbox/sandbox.js';

export class FolderSandbox extends Sandbox {
  /** The workdir of the one task of a test. */
  readonly folder = mkdtempSync(join(tmpdir(), 'folder-sandbox-'));
  /** What tools see as /tmp. Commands have the one of the machine, but for /tmp/output, and this one as TMPDIR. */
  readonly tmp = mkdtempSync(join(tmpdir(), 'folder-sandbox-tmp-'));
  /** Commands in the order in which they were started. */
  readonly commands: string[] = [];
  opened = 0;
  closed = 0;
  /** Thrown by `open` when set. */
  broken: Error | null = null;

  check(): Promise<SandboxReport> {
    return Promise.resolve({ driver: 'folder', active: [], missing: ['everything: it is for tests'] });
  }

  open({ signal }: SandboxOpenOptions): Promise<SandboxSession> {
    if (this.broken !== null) return Promise.reject(this.broken);
    this.opened++;
    return Promise.resolve(new FolderSession(this, signal));
  }

  remove(): Promise<void> {
    for (const folder of [this.folder, this.tmp]) removeTree(folder);
    return Promise.resolve();
  }
}

class FolderSession extends SandboxSession {
  private readonly running = new Set<Promise<unknown>>();
  private readonly started = new Set<() => unknown>();

  constructor(
    private readonly sandbox: FolderSandbox,
    private readonly signal: AbortSignal,
  ) {
    super();
  }

  run(command: string, options: RunOptions = {}): Promise<RunResult> {
    this.sandbox.commands.push(command);
    const done = this.spawn(command, options);
    this.running.add(done);
    done.then(
      () => this.running.delete(done),
      () => this.running.delete(done),
    );
    return done;
  }

  start(command: string, options: RunOptions & { terminal?: TerminalSize } = {}): Promise<RunningCommand> {
    if (options.terminal !== undefined) return Promise.reject(new Error('A terminal cannot be made here.'));
    this.sandbox.commands.push(command);
    const input = new PassThrough();
    let child: ChildProcess | undefined;
    const ended = this.spawn(command, { stdin: input, ...options }, (started) => (child = started));
    this.running.add(ended);
    this.started.add(() => isAlive(child) && process.kill(-child.pid, 'SIGKILL'));
    ended.catch(() => undefined).finally(() => input.destroy());
    return Promise.resolve({
      ended,
      write: (bytes) => input.writable && (input.write(bytes), true),
      end: () => void input.end(),
      stop: (signal) => {
        if (isAlive(child)) process.kill(-child.pid, signal ?? 'SIGKILL');
      },
    });
  }

  async readFile(path: string): Promise<{ size: number; content: Readable }> {
    const target = this.inside(path);
    const stat = statSync(target, { throwIfNoEntry: false });
    if (stat === undefined) throw new SandboxFileError('not_found', `${path} does not exist.`);
    if (!stat.isFile()) throw new SandboxFileError('not_a_file', `${path} is not a file.`);
    // Opened before it is handed over, as the real ones do: the file may be gone when somebody reads.
    return { size: stat.size, content: (await open(target)).createReadStream() };
  }

  async writeFile(path: string, content: string | Buffer | Readable): Promise<void> {
    const target = this.inside(path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content instanceof Readable ? await buffer(content) : content);
  }

  appendFile(path: string, content: Buffer): Promise<void> {
    const target = this.inside(path);
    mkdirSync(dirname(target), { recursive: true });
    appendFileSync(target, content);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    for (const end of this.started) end();
    await Promise.allSettled(this.running);
    this.sandbox.closed++;
  }

  private inside(path: string): string {
    const { folder, tmp } = this.sandbox;
    const inTmp = path.startsWith('/tmp/');
    const root = inTmp ? tmp : folder;
    const target = resolve(root, path.replace(/^\/(workdir|tmp)(\/|$)/, './'));
    if (!relative(root, target).startsWith('..')) return target;
    throw new SandboxFileError('outside', `${path} is outside of the workdir.`);
  }

  private async spawn(command: string, options: RunOptions, begun?: (child: ChildProcess) => void): Promise<RunResult> {
    this.signal.throwIfAborted();
    const child = spawn('sh', ['-c', command.replaceAll('/tmp/output', join(this.sandbox.tmp, 'output'))], {
      cwd: options.cwd === undefined ? this.sandbox.folder : this.inside(options.cwd),
      env: {
        PATH: `${dirname(rgPath)}:/usr/local/bin:/usr/bin:/bin`,
        TMPDIR: this.sandbox.tmp,
        ...options.env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    begun?.(child);
    const { stdin } = options;
    child.stdin.on('error', () => undefined);
    if (stdin instanceof Readable) stdin.pipe(child.stdin);
    else child.stdin.end(stdin);
    let killed: RunResult['killed'] = null;
    const kill = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL');
    const limit = setTimeout(() => ((killed = 'timeout'), kill()), (options.timeoutSeconds ?? 60) * 1000);
    this.signal.addEventListener('abort', kill, { once: true });
    try {
      const ended = new Promise<number>((done) => child.on('close', (code) => done(code ?? 137)));
      const outputs = [new Output(options.keep), new Output(options.keep)] as const;
      const arrival = new Arrival();
      const collect = (stream: Readable, which: 0 | 1) =>
        stream.on('data', (chunk: Buffer) => {
          outputs[which].add(chunk);
          arrival.note(which, outputs[which].bytes);
          void options.onOutput?.(which, chunk);
        });
      collect(child.stdout, 0);
      collect(child.stderr, 1);
      const exitCode = await ended;
      this.signal.throwIfAborted();
      const [stdout, stderr] = outputs;
      const out = { stdout: stdout.text(), stderr: stderr.text(), truncated: stdout.left + stderr.left > 0 };
      return { ...out, exitCode: killed === null ? exitCode : 124, killed, ...streamsOf(arrival, outputs) };
    } finally {
      clearTimeout(limit);
      this.signal.removeEventListener('abort', kill);
    }
  }
}

function isAlive(child: ChildProcess | undefined): child is ChildProcess & { pid: number } {
  return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
}
