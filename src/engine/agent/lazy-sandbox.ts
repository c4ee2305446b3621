import { Logger } from '@nestjs/common';
import type { NetworkReport } from '../sandbox/network/network-use.js';
import {
  type Sandbox,
  SandboxError,
  SandboxFileError,
  type SandboxOpenOptions,
  type SandboxReservation,
  type SandboxSession,
} from '../sandbox/sandbox.js';
import { skillsOf } from '../skills/task-skills.js';
import type { AgentInput, InputFile } from './agent-engine.js';
import { withRefusals } from './network-refusals.js';
import type { Finished } from './turn-outcomes.js';

/** The sandbox of one run, opened when a tool first wants it: many turns need none. */
export class LazySandbox {
  private opening: Promise<SandboxSession> | undefined;
  private readonly late: InputFile[] = [];
  private laying: Promise<void> = Promise.resolve();
  private reservation: SandboxReservation | null = null;
  private session: SandboxSession | null = null;
  /** How many refusals were told; null before the first command with a network. */
  private told: number | null = null;

  constructor(
    private readonly sandboxes: Pick<Sandbox, 'open' | 'reserve'>,
    private readonly input: Pick<
      AgentInput,
      | 'taskId'
      | 'files'
      | 'project'
      | 'skills'
      | 'repository'
      | 'network'
      | 'boundHosts'
      | 'secrets'
      | 'environment'
      | 'onNetwork'
      | 'signal'
    > &
      Pick<SandboxOpenOptions, 'door'>,
  ) {}

  /** Call it before anything else. Rejects with {@link SandboxBusyError} when the sandbox is too busy for the run now. */
  async reserve(): Promise<void> {
    this.reservation = await this.sandboxes.reserve(this.input.taskId);
  }

  /**
   * As of {@link SandboxSession}, null without a session; `network` also when it is the same as at the last call. What it refused since then stands
   * behind the result of the call.
   */
  takeState(
    done: Pick<Finished, 'result' | 'parts'>,
  ): Pick<Finished, 'result' | 'parts'> & { workdirBytes: number | null; network: NetworkReport | null } {
    const { workdirBytes = null, network = null } = this.session ?? {};
    const same = network === null || network.refused.length === this.told;
    const shown = withRefusals(done, same ? [] : network.refused.slice(this.told ?? 0));
    this.told = network?.refused.length ?? null;
    return { ...shown, workdirBytes, network: same ? null : network };
  }

  /** Rejects with {@link SandboxError} when no sandbox can be opened. */
  async get(): Promise<SandboxSession> {
    // A sandbox that failed to open may open the next time.
    this.opening ??= this.open().catch((error: unknown) => {
      this.opening = undefined;
      throw error;
    });
    const session = await this.opening;
    if (this.late.length > 0) await this.layLate(session);
    return session;
  }

  /** Further files: they are there when the sandbox is next wanted. */
  add(files: InputFile[]): void {
    this.late.push(...files);
  }

  /** Lays in what is attached, also when no tool has wanted the sandbox. Rejects as {@link get}. */
  async layFiles(): Promise<void> {
    if (this.input.files.length + this.late.length > 0) await this.get();
  }

  /** As of {@link SandboxSession}: before what lies in the folders is counted, checked or handed on. */
  async endShared(): Promise<void> {
    await this.session?.endShared();
  }

  /** Closes what was opened. Never throws: the run's outcome matters more. */
  async close(): Promise<void> {
    // The tool that needed it has failed with the reason.
    const session = await this.opening?.catch(() => undefined);
    try {
      await session?.close();
    } catch (error) {
      new Logger(LazySandbox.name).warn(error);
    }
    this.reservation?.release();
  }

  /** One call after another: of those that run side by side each wants the sandbox. */
  private layLate(session: SandboxSession): Promise<void> {
    const laid = this.laying.then(async () => {
      for (let [file] = this.late; file !== undefined; [file] = this.late) {
        await this.layIn(session, file);
        this.late.shift();
      }
    });
    this.laying = laid.catch(() => undefined);
    return laid;
  }

  private async open(): Promise<SandboxSession> {
    const { taskId, signal, files, project, network = false, boundHosts = [], environment, onNetwork } = this.input;
    const { door } = this.input;
    const secrets = (await this.input.secrets?.()) ?? undefined;
    const { reservation } = this;
    const skills = await skillsOf(this.input);
    const about = { taskId, project, skills, network, boundHosts, secrets, environment, onNetwork, door };
    const session = await this.sandboxes.open({ ...about, reservation, signal });
    try {
      for (const file of files) await this.layIn(session, file);
      return (this.session = session);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  private async layIn(session: SandboxSession, file: InputFile): Promise<void> {
    try {
      await bringIn(session, file);
    } catch (error) {
      this.input.signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      throw new SandboxError(`An input file cannot be laid into the workdir: ${reason}`, { cause: error });
    }
  }
}

/**
 * Does not replace what is there already: an earlier run brought the file, and the agent may have changed it since, or put a
 * folder or a link in its place. It never follows a link that leads out; the task then goes on without the file.
 */
async function bringIn(session: SandboxSession, file: InputFile): Promise<void> {
  try {
    const { content } = await session.readFile(file.path);
    content.destroy();
  } catch (error) {
    if (!(error instanceof SandboxFileError)) throw error;
    if (error.code === 'not_found') await lay(session, file).catch(unlessTaken);
  }
}

/** Ignores that a file cannot be written because its folder is by now a file, or a link to nothing. */
function unlessTaken(error: unknown): void {
  if (!(error instanceof SandboxFileError && ['not_a_file', 'outside'].includes(error.code))) throw error;
}

async function lay(session: SandboxSession, file: InputFile): Promise<void> {
  const content = await file.open();
  try {
    await session.writeFile(file.path, content);
  } finally {
    // A session that is over takes nothing in, and the file would stay open.
    content.destroy();
  }
}
