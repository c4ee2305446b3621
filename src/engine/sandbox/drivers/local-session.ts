import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import { Command, type LaunchCommand, type LaunchOptions, type LaunchResources, MARK } from '../launch/command.js';
import { DiskWatch } from '../workdir/disk-watch.js';
import type { WatchedSpace } from '../../../platform/disk/disk-space.js';
import {
  type NetworkReport,
  type OpenedFile,
  type RunOptions,
  type RunResult,
  SandboxError,
  SandboxFileError,
  type SandboxLimits,
  type SandboxSecrets,
  SandboxSession,
  type WriteOptions,
} from '../sandbox.js';
import type { WayOut } from '../network/network-proxy.js';
import type { NetworkRefusal } from '../network/refusals.js';
import { NETWORK_VARIABLES } from '../network/inside.js';
import { PROJECT } from './root-folder.js';
import { SessionSecrets } from './session-secrets.js';
import type { UserId } from '../workdir/user-ids.js';
import { WorkdirFiles } from '../workdir/workdir-files.js';
import { isWithin, type TaskFolders } from '../workdir/workdirs.js';

interface SessionParts {
  /** The task's folders as the host names them, and as they are named inside. */
  folders: TaskFolders;
  inside: TaskFolders;
  /** The folder of the project's files as the host names it; it goes with the session. */
  project: { path: string; remove: () => Promise<void> } | null;
  user: UserId | null;
  /** Makes the way out to `hosts`; null: there is none. */
  wayOut:
    ((secrets: SandboxSecrets | undefined, onRefusal: (refusal: NetworkRefusal) => void) => Promise<WayOut>) | null;
  secrets: SandboxSecrets | undefined;
  hosts: readonly string[];
  /** Gives back what the session was opened with; called at its end. */
  release: () => void;
  limits: SandboxLimits;
  space: WatchedSpace;
  /** Deletes what is in them. */
  empty: () => Promise<void>;
  resources: LaunchResources;
  shell: string[];
  environment: Record<string, string>;
  /** The folder of programs that a setup may have made ({@link RunOptions.prepared}); null: there is none. */
  ofSetup: string | null;
  /** Of the environment of the task; the others go before them. */
  variables: Readonly<Record<string, string>>;
  launch: (command: string[], options: LaunchOptions) => LaunchCommand;
  signal: AbortSignal;
}

// The kernel takes at most 128 KiB as one argument (MAX_ARG_STRLEN, execve(2)).
const MAX_ARGUMENT = 128 * 1024 - 1;
// The command and its variables together: ARG_MAX is a quarter of the stack's limit, 2 MiB as a rule.
const MAX_ARGUMENTS = 1024 * 1024;
// At most four bytes each. A longer command is split into several arguments: a file for it would be one of the host's, open inside.
const PIECE = /[^]{1,32000}/gu;
const JOINED = `IFS=; eval "IFS=' \t\n'; set --\n$*"`;
const CANNOT_RUN = 126;

export class LocalSession extends SandboxSession {
  private readonly running = new Map<Command, Promise<unknown>>();
  private readonly files: WorkdirFiles;
  private readonly projectFiles: WorkdirFiles | null;
  private readonly disk: DiskWatch;
  private wayOut: Promise<WayOut> | undefined;
  private readonly secrets: SessionSecrets;
  /** Whether a command had a network. */
  private reached = false;
  private readonly refused: NetworkRefusal[] = [];
  private closed = false;
  private readonly abort = () => this.killAll('ended');

  constructor(private readonly parts: SessionParts) {
    super();
    const { folders, inside, project, user, limits, space, empty, signal } = parts;
    const { workdir, tmp, home } = folders;
    this.secrets = new SessionSecrets(parts.secrets, (all) => {
      this.wayOut?.then((way) => way.change(all)).catch(() => undefined);
    });
    this.files = new WorkdirFiles(
      [
        { path: workdir, inside: inside.workdir },
        { path: tmp, inside: inside.tmp },
        { path: home, inside: inside.home },
      ],
      user?.uid ?? null,
      limits.diskBytes,
    );
    this.projectFiles = project === null ? null : new WorkdirFiles([{ path: project.path, inside: PROJECT }], null, 0);
    this.disk = new DiskWatch({
      folders: [workdir, tmp, home],
      limitBytes: limits.diskBytes,
      space,
      running: () => [...this.running.keys()].flatMap(({ tree }) => tree ?? []),
      nameless: () => this.files.nameless,
      exceeded: () => this.killAll('disk'),
      empty,
    });
    signal.addEventListener('abort', this.abort, { once: true });
  }

  async run(command: string, options: RunOptions = {}): Promise<RunResult> {
    this.assertOpen();
    const { limits, shell, resources } = this.parts;
    const cwd = this.absolute(options.cwd ?? '.');
    const wrong = this.mayBegin(cwd) ? refusal(command, options.env) : 'cwd has to be inside of the workdir, /tmp or ~';
    if (wrong !== null)
      return { exitCode: CANNOT_RUN, stdout: '', stderr: `${wrong}\n`, truncated: false, killed: null };
    const full = await this.disk.room();
    // What is made behind the end of the session nobody would end.
    this.assertOpen();
    const wayOut =
      options.network === true && this.parts.wayOut !== null ? await this.openWay(this.parts.wayOut) : null;
    this.assertOpen();
    const mark = randomBytes(16).toString('hex');
    const environment = Object.entries({
      ...this.parts.variables,
      ...this.parts.environment,
      ...(options.prepared === true && this.preparedPath()),
      ...(wayOut !== null && NETWORK_VARIABLES),
      ...this.secrets.variables,
      ...options.env,
      ...(resources.sweep && { [MARK]: mark }),
    });
    const assignments = environment.map(([name, value]) => `${name}=${value}`);
    const long = Buffer.byteLength(command) > MAX_ARGUMENT;
    const text = long ? [JOINED, shell[0] ?? '', ...(command.match(PIECE) ?? [])] : [command];
    const words = ['/usr/bin/env', '-i', ...assignments, ...shell, '-c', ...text];
    const group = resources.groups?.make(limits.memoryBytes) ?? null;
    const running = new Command(resources, {
      ...this.parts.launch(words, {
        cwd,
        group,
        wayOut,
        fileBytes: full === null ? Math.min(limits.diskBytes, this.parts.space.room) : 0,
      }),
      stdin: options.stdin,
      timeoutSeconds: Math.min(options.timeoutSeconds ?? limits.wallClockSeconds, limits.wallClockSeconds),
      outputBytes: limits.outputBytes,
      beyondBytes: limits.diskBytes,
      room: () => this.disk.roomForOutput(),
      keep: options.keep,
      onOutput: options.onOutput && ((stream, chunk) => options.onOutput?.(stream, this.secrets.masked(chunk))),
      keepsOutput: options.keepsOutput,
      mark,
      group,
    });
    const began = Date.now();
    const result = await this.finish(running, full === null);
    if (full === null) await this.disk.giveBack(began);
    return withNotes(this.secrets.maskedResult(result), [this.disk.takeNote(), full]);
  }

  readFile(path: string): Promise<OpenedFile> {
    this.assertOpen();
    const inProject = isWithin(this.absolute(path), PROJECT);
    return (inProject ? (this.projectFiles ?? this.files) : this.files).read(this.atHome(path));
  }

  async writeFile(path: string, content: string | Buffer | Readable, options?: WriteOptions): Promise<void> {
    this.assertOpen();
    const full = await this.disk.room();
    this.assertOpen();
    // An empty one in the place of a large one makes room.
    if (full !== null && content !== '') throw new SandboxFileError('too_large', `${full}. Delete files first.`);
    return this.files.write(this.atHome(path), content, options);
  }

  override get wallClockSeconds(): number {
    return this.parts.limits.wallClockSeconds;
  }

  override get workdirBytes(): number | null {
    return this.disk.bytes;
  }

  override get network(): NetworkReport | null {
    return this.reached ? { hosts: this.parts.hosts, refused: [...this.refused] } : null;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.secrets.close();
    this.killAll('ended');
    await Promise.allSettled(this.running.values());
    this.parts.signal.removeEventListener('abort', this.abort);
    await (await this.wayOut?.catch(() => undefined))?.close();
    await this.disk.idle();
    // A folder that stays is removed with the next session or with the task.
    await this.parts.project?.remove().catch(() => undefined);
    this.parts.release();
  }

  /** One for all commands of the session, made when the first one wants it, and again when it was lost. */
  private async openWay(open: NonNullable<SessionParts['wayOut']>): Promise<WayOut> {
    const made = (this.wayOut ??= open(this.secrets.given, (refusal) => void this.refused.push(refusal)));
    const forget = () => {
      if (this.wayOut === made) this.wayOut = undefined;
    };
    made.then(async ({ lost }) => (await lost) && forget(), forget);
    const way = await made;
    this.reached = true;
    return way;
  }

  /** With `~` as a shell has it. A file of that name is `./~`. */
  private atHome(path: string): string {
    return isWithin(path, '~') ? this.parts.inside.home + path.slice(1) : path;
  }

  private preparedPath(): Record<string, string> {
    const { environment, ofSetup } = this.parts;
    return ofSetup === null ? {} : { PATH: `${ofSetup}:${environment['PATH']}` };
  }

  private absolute(path: string): string {
    return posix.resolve(this.parts.inside.workdir, this.atHome(path));
  }

  private mayBegin(folder: string): boolean {
    return Object.values(this.parts.inside).some((one: string) => isWithin(folder, one));
  }

  private async finish(command: Command, writes: boolean): Promise<RunResult> {
    const done = command.run();
    this.running.set(command, done);
    this.disk.start(writes);
    try {
      const result = await done;
      this.assertOpen();
      return result;
    } catch (error) {
      this.assertOpen();
      throw error;
    } finally {
      this.running.delete(command);
      this.disk.stop(writes);
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

/** The result, with notes on the workdir for the model behind it. */
function withNotes(result: RunResult, [note, full]: (string | null)[]): RunResult {
  const kept = full == null ? null : `${full}. The command could delete files, but make none larger`;
  const notes = [note, kept].flatMap((one) => (one == null ? [] : [`[${one}.]\n`]));
  if (notes.length === 0) return result;
  const { stderr } = result;
  return { ...result, stderr: [stderr, stderr === '' || stderr.endsWith('\n') ? '' : '\n', ...notes].join('') };
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
