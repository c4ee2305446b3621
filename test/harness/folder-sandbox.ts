// A sandbox for unit tests of the agent: a temporary folder and child processes. It protects nothing.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { rgPath } from '@vscode/ripgrep';
import {
  type RunOptions,
  type RunResult,
  Sandbox,
  SandboxFileError,
  type SandboxOpenOptions,
  type SandboxReport,
  SandboxSession,
} from '../../src/engine/sandbox/sandbox.js';

export class FolderSandbox extends Sandbox {
  /** The workdir of the one task of a test. */
  readonly folder = mkdtempSync(join(tmpdir(), 'folder-sandbox-'));
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
    rmSync(this.folder, { recursive: true, force: true });
    return Promise.resolve();
  }
}

class FolderSession extends SandboxSession {
  private readonly running = new Set<Promise<unknown>>();

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

  async close(): Promise<void> {
    await Promise.allSettled(this.running);
    this.sandbox.closed++;
  }

  private inside(path: string): string {
    const target = resolve(this.sandbox.folder, path.replace(/^\/workdir(\/|$)/, './'));
    if (!relative(this.sandbox.folder, target).startsWith('..')) return target;
    throw new SandboxFileError('outside', `${path} is outside of the workdir.`);
  }

  private async spawn(command: string, options: RunOptions): Promise<RunResult> {
    this.signal.throwIfAborted();
    const child = spawn('sh', ['-c', command], {
      cwd: options.cwd === undefined ? this.sandbox.folder : this.inside(options.cwd),
      env: { PATH: `${dirname(rgPath)}:/usr/local/bin:/usr/bin:/bin`, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let killed: RunResult['killed'] = null;
    const kill = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL');
    const limit = setTimeout(() => ((killed = 'timeout'), kill()), (options.timeoutSeconds ?? 60) * 1000);
    this.signal.addEventListener('abort', kill, { once: true });
    try {
      const ended = new Promise<number>((done) => child.on('close', (code) => done(code ?? 137)));
      const [stdout, stderr, exitCode] = await Promise.all([buffer(child.stdout), buffer(child.stderr), ended]);
      this.signal.throwIfAborted();
      const out = { stdout: stdout.toString(), stderr: stderr.toString(), truncated: false };
      return { ...out, exitCode: killed === null ? exitCode : 124, killed };
    } finally {
      clearTimeout(limit);
      this.signal.removeEventListener('abort', kill);
    }
  }
}
