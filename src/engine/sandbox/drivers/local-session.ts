import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import type { Box } from '../launch/box.js';
import { Command } from '../launch/command.js';
import { inTerminal, TERMINAL_VARIABLES } from '../launch/terminal.js';
import { DiskWatch } from '../workdir/disk-watch.js';
import type { NetworkReport } from '../network/network-use.js';
import type { RunResult } from '../run-result.js';
import { type RunningCommand, SERVICE_TIMES, type TerminalSize } from '../running-command.js';
import type { WriteOptions } from '../write-options.js';
import { type OpenedFile, type RunOptions, SandboxError, SandboxFileError, SandboxSession } from '../sandbox.js';
import { NETWORK_VARIABLES } from '../network/inside.js';
import { cannotRun, refusal, shellWords, withNotes } from './command-words.js';
import { SessionBoxes } from './session-boxes.js';
import type { SessionParts } from './session-parts.js';
import { sharedMounts } from './root-folder.js';
import { SessionSecrets } from './session-secrets.js';
import { SessionWay } from './session-way.js';
import { StartedCommand } from './started-command.js';
import { WorkdirFiles } from '../workdir/workdir-files.js';
import { isWithin } from '../workdir/workdirs.js';

export class LocalSession extends SandboxSession {
  private readonly running = new Map<Command, Promise<unknown>>();
  /** Those that are no commands ({@link RunOptions.program}). */
  private readonly programs = new Map<Command, Promise<unknown>>();
  private readonly files: WorkdirFiles;
  private readonly shared: { files: WorkdirFiles; inside: string }[];
  private readonly disk: DiskWatch;
  private readonly boxes: SessionBoxes;
  private readonly way: SessionWay;
  private readonly secrets: SessionSecrets;
  private closed = false;
  private readonly abort = () => {
    this.killAll('ended');
    this.boxes.kill();
  };

  constructor(private readonly parts: SessionParts) {
    super();
    const { folders, inside, shared, user, limits, space, empty, signal } = parts;
    const { workdir, tmp, home } = folders;
    this.way = new SessionWay(parts);
    this.secrets = new SessionSecrets(parts.secrets, (all) => this.way.change(all));
    this.files = new WorkdirFiles(
      [
        { path: workdir, inside: inside.workdir },
        { path: tmp, inside: inside.tmp },
        { path: home, inside: inside.home },
      ],
      user?.uid ?? null,
      limits.diskBytes,
    );
    this.shared = sharedMounts(shared).map(([path, target]) => {
      return { files: new WorkdirFiles([{ path, inside: target }], null, 0), inside: target };
    });
    const { resources, launch } = parts;
    this.boxes = new SessionBoxes(resources, limits.memoryBytes, launch);
    this.disk = new DiskWatch({
      folders: [workdir, tmp, home],
      limitBytes: limits.diskBytes,
      space,
      running: () => this.boxes.trees,
      nameless: () => this.files.nameless,
      exceeded: () => this.kill('disk', this.running.size > 0 ? this.running : this.programs),
      empty,
    });
    signal.addEventListener('abort', this.abort, { once: true });
  }

  async run(command: string, options: RunOptions = {}): Promise<RunResult> {
    return (await this.begin(command, options)).ended;
  }

  async start(
    command: string,
    { terminal, ...options }: RunOptions & { terminal?: TerminalSize } = {},
  ): Promise<RunningCommand> {
    const started = new StartedCommand();
    const masking = this.secrets.masking(options.onOutput);
    const words = terminal === undefined ? command : inTerminal(command, terminal, this.parts.shell[0] ?? '');
    const given = {
      stdin: started.input,
      ...options,
      ...(masking !== null && { onOutput: masking.add }),
      ...(terminal !== undefined && { env: { ...TERMINAL_VARIABLES, ...options.env } }),
    };
    const { ended } = await this.begin(words, given, (entered) => started.entered(entered));
    started.endsWith(masking === null ? ended : ended.finally(masking.end));
    return started;
  }

  /** Resolves when it is on its way. @param entered is told of the command in its box, again when that did not let it begin. */
  private async begin(
    command: string,
    options: RunOptions,
    entered: (command: Command) => void = () => undefined,
  ): Promise<{ ended: Promise<RunResult> }> {
    this.assertOpen();
    const { limits } = this.parts;
    const cwd = this.absolute(options.cwd ?? '.');
    const wrong = this.mayBegin(cwd) ? refusal(command, options.env) : 'cwd has to be inside of the workdir, /tmp or ~';
    if (wrong !== null) return { ended: Promise.resolve(cannotRun(wrong)) };
    const full = await this.disk.room();
    // What is made behind the end of the session nobody would end.
    this.assertOpen();
    const leaves = options.shared === true || options.network === true;
    const wayOut = leaves ? await this.way.open(this.secrets.given) : null;
    this.assertOpen();
    const words = shellWords(this.parts.shell, this.variablesOf(options, wayOut !== null && this.parts.leads), command);
    const fileBytes = full === null ? Math.min(limits.diskBytes, this.parts.space.room) : 0;
    const { program } = options;
    const about = { cwd, fileBytes, wallClockSeconds: this.most(options), ...program };
    const shared = options.shared === true && program === undefined;
    const enter = (box: Box) => {
      this.assertOpen();
      const entry = box.enter(options.stdin !== undefined, (of) => this.parts.words(words, { ...of, ...about }));
      const running = new Command(entry, this.commandOptions(options));
      entered(running);
      return this.finish(running, full === null, program === undefined);
    };
    const run = this.boxes.enter(shared, wayOut, enter, program?.memoryBytes);
    return { ended: program === undefined ? this.told(run, full) : run };
  }

  /** The result, as it is told of the command. */
  private async told(run: Promise<RunResult>, full: string | null): Promise<RunResult> {
    const began = Date.now();
    const result = await run.catch((error: unknown) => {
      this.assertOpen();
      throw error;
    });
    if (full === null) await this.disk.giveBack(began);
    return withNotes(this.secrets.maskedResult(result), [this.boxes.takeNote(), this.disk.takeNote(), full]);
  }

  override endShared(): Promise<void> {
    return this.boxes.endShared();
  }

  readFile(path: string): Promise<OpenedFile> {
    this.assertOpen();
    const full = this.absolute(path);
    const shared = this.shared.find(({ inside }) => isWithin(full, inside));
    return (shared?.files ?? this.files).read(this.atHome(path));
  }

  async writeFile(path: string, content: string | Buffer | Readable, options?: WriteOptions): Promise<void> {
    this.assertOpen();
    const full = await this.disk.room();
    this.assertOpen();
    // An empty one in the place of a large one makes room.
    if (full !== null && content !== '') throw new SandboxFileError('too_large', `${full}. Delete files first.`);
    return this.files.write(this.atHome(path), content, options);
  }

  async appendFile(path: string, content: Buffer): Promise<void> {
    this.assertOpen();
    if ((await this.disk.room()) !== null) throw new SandboxFileError('too_large', 'There is no room.');
    this.assertOpen();
    return this.files.append(path, content);
  }

  override get wallClockSeconds(): number {
    return this.parts.limits.wallClockSeconds;
  }

  override get workdirBytes(): number | null {
    return this.disk.bytes;
  }

  override get network(): NetworkReport | null {
    return this.way.network;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.secrets.close();
    this.killAll('ended');
    await Promise.allSettled([...this.running.values(), ...this.programs.values()]);
    await this.boxes.close();
    this.parts.signal.removeEventListener('abort', this.abort);
    await this.way.close();
    await this.disk.idle();
    // A folder that stays is removed with the next session or with the task.
    await this.parts.shared.remove().catch(() => undefined);
    this.parts.release();
  }

  private variablesOf({ prepared, env }: RunOptions, leaves: boolean): Record<string, string> {
    return {
      ...this.parts.variables,
      ...this.parts.environment,
      ...(prepared === true && this.preparedPath()),
      ...(leaves && NETWORK_VARIABLES),
      ...this.secrets.variables,
      ...env,
    };
  }

  /** Seconds that a command may take. */
  private most({ service = false, program }: RunOptions): number {
    if (program !== undefined) return Infinity;
    return this.parts.limits.wallClockSeconds * (service ? SERVICE_TIMES : 1);
  }

  private commandOptions(options: RunOptions) {
    const { limits } = this.parts;
    const { stdin, timeoutSeconds, keep, keepsOutput, program } = options;
    const service = options.service === true || program !== undefined;
    const onOutput = program === undefined ? options.onOutput : this.watched(options.onOutput);
    const most = this.most(options);
    return {
      stdin,
      timeoutSeconds: Math.min(timeoutSeconds ?? most, most),
      outputBytes: limits.outputBytes,
      beyondBytes: service ? Infinity : limits.diskBytes,
      room: () => (service ? Promise.resolve(Infinity) : this.disk.roomForOutput()),
      keep,
      onOutput: onOutput && ((stream: 0 | 1, chunk: Buffer) => onOutput(stream, this.secrets.masked(chunk))),
      keepsOutput: service ? () => true : keepsOutput,
    };
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

  private async finish(command: Command, writes: boolean, watched: boolean): Promise<RunResult> {
    const done = command.run();
    const among = watched ? this.running : this.programs;
    among.set(command, done);
    if (watched) this.disk.start(writes);
    try {
      const result = await done;
      this.assertOpen();
      return result;
    } finally {
      among.delete(command);
      if (watched) this.disk.stop(writes);
    }
  }

  /** The disk is looked at when a program says something: it may have written something too. */
  private watched(onOutput: RunOptions['onOutput']): RunOptions['onOutput'] {
    return (stream, chunk) => {
      this.disk.glance();
      return onOutput?.(stream, chunk);
    };
  }

  private killAll(why: 'disk' | 'ended'): void {
    this.kill(why, this.running);
    this.kill(why, this.programs);
  }

  private kill(why: 'disk' | 'ended', commands: ReadonlyMap<Command, unknown>): void {
    for (const command of commands.keys()) command.kill(why);
  }

  private assertOpen(): void {
    this.parts.signal.throwIfAborted();
    if (this.closed) throw new SandboxError('The session of the sandbox is closed.');
  }
}
