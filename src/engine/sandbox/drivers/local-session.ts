import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import { Command, type LaunchCommand, type LaunchOptions, type LaunchResources, MARK } from '../launch/command.js';
import { DiskWatch } from '../workdir/disk-watch.js';
import {
  type OpenedFile,
  type RunOptions,
  type RunResult,
  SandboxError,
  type SandboxLimits,
  SandboxSession,
} from '../sandbox.js';
import { PROJECT } from './root-folder.js';
import type { UserId } from '../workdir/user-ids.js';
import { WorkdirFiles } from '../workdir/workdir-files.js';
import { insideWorkdir } from '../workdir/workdirs.js';

interface SessionParts {
  /** The workdir as the host names it, and as it is named inside. */
  workdir: string;
  inside: string;
  /** The folder of the project's files as the host names it; it goes with the session. */
  project: { path: string; remove: () => Promise<void> } | null;
  user: UserId | null;
  /** Gives back what the session was opened with; called at its end. */
  release: () => void;
  limits: SandboxLimits;
  resources: LaunchResources;
  shell: string[];
  environment: Record<string, string>;
  launch: (command: string[], options: LaunchOptions) => LaunchCommand;
  signal: AbortSignal;
}

// The kernel takes at most 128 KiB as one argument (MAX_ARG_STRLEN, execve(2)).
const MAX_ARGUMENT = 128 * 1024 - 1;
// The command and its variables together: ARG_MAX is a quarter of the stack's limit, 2 MiB as a rule.
const MAX_ARGUMENTS = 1024 * 1024;
// At most four bytes each. A longer command comes in pieces as arguments: a file for it would be one of the host's, open inside.
const PIECE = /[^]{1,32000}/gu;
const JOINED = `IFS=; eval "IFS=' \t\n'; set --\n$*"`;
const CANNOT_RUN = 126;

export class LocalSession extends SandboxSession {
  private readonly running = new Map<Command, Promise<unknown>>();
  private readonly files: WorkdirFiles;
  private readonly projectFiles: WorkdirFiles | null;
  private readonly disk: DiskWatch;
  private closed = false;
  private readonly abort = () => this.killAll('ended');

  constructor(private readonly parts: SessionParts) {
    super();
    const { workdir, inside, project, user, limits, signal } = parts;
    this.files = new WorkdirFiles(workdir, inside, user?.uid ?? null, limits.diskBytes);
    this.projectFiles = project === null ? null : new WorkdirFiles(project.path, PROJECT, null, 0);
    this.disk = new DiskWatch(workdir, limits.diskBytes, () => this.killAll('disk'));
    signal.addEventListener('abort', this.abort, { once: true });
  }

  async run(command: string, options: RunOptions = {}): Promise<RunResult> {
    this.assertOpen();
    const { inside, limits, shell, resources } = this.parts;
    const cwd = insideWorkdir(options.cwd ?? inside, inside);
    const wrong = cwd === null ? 'cwd has to be inside of the workdir' : refusal(command, options.env);
    if (wrong !== null)
      return { exitCode: CANNOT_RUN, stdout: '', stderr: `${wrong}\n`, truncated: false, killed: null };
    const mark = randomBytes(16).toString('hex');
    const environment = Object.entries({
      ...this.parts.environment,
      ...options.env,
      ...(resources.sweep && { [MARK]: mark }),
    });
    const assignments = environment.map(([name, value]) => `${name}=${value}`);
    const long = Buffer.byteLength(command) > MAX_ARGUMENT;
    const text = long ? [JOINED, shell[0] ?? '', ...(command.match(PIECE) ?? [])] : [command];
    const words = ['/usr/bin/env', '-i', ...assignments, ...shell, '-c', ...text];
    const group = resources.groups?.make() ?? null;
    const running = new Command(resources, {
      ...this.parts.launch(words, { cwd: cwd ?? inside, group }),
      stdin: options.stdin,
      timeoutSeconds: Math.min(options.timeoutSeconds ?? limits.wallClockSeconds, limits.wallClockSeconds),
      outputBytes: limits.outputBytes,
      mark,
      group,
    });
    return this.finish(running);
  }

  readFile(path: string): Promise<OpenedFile> {
    this.assertOpen();
    const inProject = insideWorkdir(posix.resolve(this.parts.inside, path), PROJECT) !== null;
    return (inProject ? (this.projectFiles ?? this.files) : this.files).read(path);
  }

  writeFile(path: string, content: string | Buffer | Readable): Promise<void> {
    this.assertOpen();
    return this.files.write(path, content);
  }

  override get workdirBytes(): number | null {
    return this.disk.bytes;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.killAll('ended');
    await Promise.allSettled(this.running.values());
    this.parts.signal.removeEventListener('abort', this.abort);
    await this.disk.idle();
    await this.removeProject();
    this.parts.release();
  }

  private async removeProject(): Promise<void> {
    // A folder that stays is removed with the next session or with the task.
    await this.parts.project?.remove().catch(() => undefined);
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
  const values = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  if ([command, ...values].some((value) => value.includes('\0'))) return 'a command cannot contain NUL';
  const bytes = values.map((value) => Buffer.byteLength(value));
  if (Math.max(0, ...bytes) > MAX_ARGUMENT) {
    return `a variable is longer than ${MAX_ARGUMENT} bytes: write a file instead`;
  }
  const all = bytes.reduce((sum, one) => sum + one, Buffer.byteLength(command));
  if (all <= MAX_ARGUMENTS) return null;
  return `the command and its variables are longer than ${MAX_ARGUMENTS} bytes: write a file instead`;
}
