import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Command, type CommandTools, type Line, MARK } from './command.js';
import { DiskWatch } from './disk-watch.js';
import { type RunOptions, type RunResult, SandboxError, type SandboxLimits, SandboxSession } from './sandbox.js';
import type { UserId } from './user-ids.js';
import { WorkdirFiles } from './workdir-files.js';
import { insideWorkdir } from './workdirs.js';

interface SessionParts {
  /** The workdir as the host names it, and as it is named inside. */
  workdir: string;
  inside: string;
  user: UserId | null;
  limits: SandboxLimits;
  tools: CommandTools;
  shell: string;
  environment: Record<string, string>;
  line: (command: string[], cwd: string) => Line;
  signal: AbortSignal;
}

// The kernel takes at most 128 KiB as one argument (MAX_ARG_STRLEN, execve(2)).
const MAX_ARGUMENT = 128 * 1024 - 1;
const CANNOT_RUN = 126;

export class LocalSession extends SandboxSession {
  private readonly running = new Map<Command, Promise<unknown>>();
  private readonly files: WorkdirFiles;
  private readonly disk: DiskWatch;
  private closed = false;
  private readonly abort = () => this.killAll('ended');

  constructor(private readonly parts: SessionParts) {
    super();
    const { workdir, inside, user, limits, signal } = parts;
    this.files = new WorkdirFiles(workdir, inside, user?.uid ?? null, limits.diskBytes);
    this.disk = new DiskWatch(workdir, limits.diskBytes, () => this.killAll('disk'));
    signal.addEventListener('abort', this.abort, { once: true });
  }

  async run(command: string, options: RunOptions = {}): Promise<RunResult> {
    this.assertOpen();
    const { inside, limits, shell, tools } = this.parts;
    const cwd = insideWorkdir(options.cwd ?? inside, inside);
    const wrong = cwd === null ? 'cwd has to be inside of the workdir' : refusal(command, options.env);
    if (wrong !== null)
      return { exitCode: CANNOT_RUN, stdout: '', stderr: `${wrong}\n`, truncated: false, killed: null };
    const mark = randomBytes(16).toString('hex');
    const environment = Object.entries({
      ...this.parts.environment,
      ...options.env,
      ...(tools.sweep && { [MARK]: mark }),
    });
    const assignments = environment.map(([name, value]) => `${name}=${value}`);
    const words = ['/usr/bin/env', '-i', ...assignments, shell, '-c', command];
    const running = new Command(tools, {
      ...this.parts.line(words, cwd ?? inside),
      stdin: options.stdin,
      timeoutSeconds: Math.min(options.timeoutSeconds ?? limits.wallClockSeconds, limits.wallClockSeconds),
      outputBytes: limits.outputBytes,
      mark,
    });
    return this.finish(running);
  }

  readFile(path: string): Promise<{ size: number; content: Readable }> {
    this.assertOpen();
    return this.files.read(path);
  }

  writeFile(path: string, content: string | Buffer | Readable): Promise<void> {
    this.assertOpen();
    return this.files.write(path, content);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.killAll('ended');
    await Promise.allSettled(this.running.values());
    this.parts.signal.removeEventListener('abort', this.abort);
    this.parts.user?.release();
  }

  private async finish(command: Command): Promise<RunResult> {
    const done = command.run();
    this.running.set(command, done);
    this.disk.start();
    try {
      const result = await done;
      this.assertOpen();
      return result;
    } catch (error) {
      this.assertOpen();
      throw error;
    } finally {
      this.disk.stop();
      this.running.delete(command);
    }
  }

  private killAll(why: 'disk' | 'ended'): void {
    for (const command of this.running.keys()) command.kill(why);
  }

  private assertOpen(): void {
    this.parts.signal.throwIfAborted();
    if (this.closed) throw new SandboxError('The session of the sandbox is closed.');
  }
}

/** Why a command cannot be handed over at all, for the model. */
function refusal(command: string, env: Record<string, string> = {}): string | null {
  const name = Object.keys(env).find((key) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(key));
  if (name !== undefined) return `'${name}' cannot be the name of a variable`;
  const values = [command, ...Object.entries(env).map(([key, value]) => `${key}=${value}`)];
  if (values.some((value) => value.includes('\0'))) return 'a command cannot contain NUL';
  const long = values.some((value) => Buffer.byteLength(value) > MAX_ARGUMENT);
  return long ? `a command or a variable is longer than ${MAX_ARGUMENT} bytes: write it to a file first` : null;
}
