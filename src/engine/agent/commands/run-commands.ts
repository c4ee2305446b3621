import type { RunResult } from '../../sandbox/run-result.js';
import type { RunOptions, SandboxSession } from '../../sandbox/sandbox.js';
import { cleanText } from '../clean-json.js';
import { terminalText } from '../../models/result-lines.js';
import { AgentCommand } from './agent-command.js';
import type { CommandEvent, CommandOutput } from './command-events.js';
import { CommandLog } from './command-log.js';
import { type EarlierCommand, type InputCommands, statusOf } from './input-commands.js';

/** Commands of a run that go on at once. */
const MOST = 8;
/** Bytes of the end of the output that stay on record. */
export const KEPT_END = 16 * 1024;
/** The same while it runs, and the least milliseconds from one such record to the next. */
const KEPT_MEANWHILE = 2 * 1024;
const RECORD_MS = 5_000;
/** What a terminal shows. */
const TERMINAL = { columns: 120, rows: 40 };

/** How a command is to be started. */
export interface Launch extends Pick<RunOptions, 'env' | 'cwd' | 'keep' | 'onOutput'> {
  /** Seconds that it may live, if the run has that long. */
  timeoutSeconds?: number | undefined;
  terminal: boolean;
  takesInput: boolean;
}

export interface Launched {
  command: AgentCommand;
  /** As of `SandboxSession.run`. */
  ended: Promise<RunResult>;
}

/** The commands of one run that go on beyond their calls (reference §27.2). */
export class RunCommands {
  private readonly going = new Map<number, AgentCommand>();
  private readonly begun = new Set<AgentCommand>();
  /** Those whose output is kept as if they ran. */
  private readonly ended: AgentCommand[] = [];
  private readonly earlierUntold: EarlierCommand[];
  private last: number;
  private news: CommandEvent[] = [];
  private readonly unrecorded = new Set<AgentCommand>();
  private timer: NodeJS.Timeout | null = null;
  private wake: () => void = () => undefined;
  private unlisten: (() => void) | null = null;

  constructor(
    private readonly input: InputCommands,
    private readonly parts: {
      /** Bytes of the log of each. */
      logBytes: number;
      /** Of the turn; null: it has no such limit. */
      secondsLeft: () => number | null;
      passOn: ((event: CommandOutput) => void) | undefined;
    },
  ) {
    this.last = input.last;
    this.earlierUntold = [...input.earlier];
  }

  /** Starts one. Throws an error for the model when too many go on. */
  async launch(
    session: SandboxSession,
    text: string,
    { terminal, takesInput, timeoutSeconds = Infinity, ...options }: Launch,
  ): Promise<Launched> {
    if (this.isFull) {
      const names = this.running.flatMap((one) => (one.number === null ? [] : [one.id])).join(', ');
      throw new Error(`${MOST} commands are going on (${names}). Stop one of them first.`);
    }
    const command = new AgentCommand(text, terminal, takesInput, new CommandLog(session, this.parts.logBytes));
    this.begun.add(command);
    const { onOutput } = options;
    const seconds = Math.min(timeoutSeconds, Math.max(0.001, this.parts.secondsLeft() ?? Infinity));
    try {
      const running = await session.start(text, {
        ...options,
        service: true,
        shared: true,
        prepared: true,
        ...(seconds === Infinity ? {} : { timeoutSeconds: seconds }),
        ...(terminal ? { terminal: TERMINAL } : {}),
        onOutput: (stream, chunk) => {
          command.said(chunk);
          if (command.number === null) return onOutput?.(stream, chunk);
          this.pass(command, chunk);
          this.recordLater(command);
        },
      });
      command.begun(running, { over: () => this.over(command), seen: () => this.seen(command) });
      return { command, ended: running.ended };
    } catch (error) {
      this.begun.delete(command);
      throw error;
    }
  }

  /** It goes on beyond its call, under a name. */
  keep(command: AgentCommand, toolCallId: string): void {
    command.number = ++this.last;
    this.going.set(command.number, command);
    command.log.begin(command.logPath);
    this.unlisten ??= this.input.onStop((number) => void this.going.get(number)?.stop(false));
    const { number, command: text, terminal } = command;
    const said = saidBy(command, KEPT_MEANWHILE);
    this.tell({ type: 'command_started', number, toolCallId, command: cleanText(text), terminal, ...said });
    this.pass(command, command.ring.end(KEPT_END));
    if (command.status !== 'running') this.over(command);
  }

  /** Throws an error for the model when there is none of the name. */
  find(id: string): AgentCommand {
    const found = this.numbered(numberOf(id));
    if (found !== undefined) return found;
    const earlier = this.earlierOf(id);
    if (earlier !== undefined) throw new Error(`The command ${id} does not run any more (${statusOf(earlier)}).`);
    const names = [...this.going.values()].map((one) => one.id).join(', ');
    throw new Error(`There is no command ${id} in this run.${names === '' ? '' : ` There are: ${names}.`}`);
  }

  numbered(number: number): AgentCommand | undefined {
    return this.going.get(number);
  }

  /** Whether no other one may be launched. */
  get isFull(): boolean {
    return this.running.length >= MOST;
  }

  get all(): AgentCommand[] {
    return [...this.going.values()];
  }

  /** Those of earlier runs that the agent has not been told of. */
  get earlier(): readonly EarlierCommand[] {
    return this.input.earlier;
  }

  earlierOf(id: string): EarlierCommand | undefined {
    return this.earlier.find(({ number }) => number === numberOf(id));
  }

  /** Those whose end the agent does not know, of this run too. From now on it does. */
  untold(): EarlierCommand[] {
    const own = [...this.going].filter(([, { status, told }]) => status !== 'running' && !told);
    return [
      ...this.earlierUntold.splice(0),
      ...own.map(([number, one]) => {
        one.told = true;
        const { command, status, exitCode } = one;
        return { number, command, status, exitCode, output: saidBy(one, KEPT_END).output };
      }),
    ];
  }

  /** Resolves when there is something to record. */
  changed(): Promise<'changed'> {
    if (this.news.length > 0) return Promise.resolve('changed');
    return new Promise((resolve) => (this.wake = () => resolve('changed')));
  }

  /** What is to be recorded. */
  take(): CommandEvent[] {
    return this.news.splice(0);
  }

  /** Stops all, before what they change is handed on. Resolves with the ids of those that went on. */
  async stop(): Promise<string[]> {
    const going = this.all.filter(({ status }) => status === 'running');
    await Promise.all([...this.begun].map((command) => command.stop(false)));
    await this.logsWritten();
    return going.map(({ id }) => id);
  }

  /** Stops all, before the changes of the turn are counted. Resolves with what is to be recorded. */
  async end(): Promise<CommandEvent[]> {
    await this.stop();
    return this.take();
  }

  /** Resolves when the files of all have what they have said so far. */
  async logsWritten(): Promise<void> {
    await Promise.all(this.all.map(({ log }) => log.written()));
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.unlisten?.();
  }

  private get running(): AgentCommand[] {
    return [...this.begun].filter(({ status }) => status === 'running');
  }

  private pass(command: AgentCommand, chunk: Buffer): void {
    if (chunk.length > 0) this.parts.passOn?.({ type: 'command_output', commandId: command.id, chunk });
  }

  private recordLater(command: AgentCommand): void {
    this.unrecorded.add(command);
    this.timer ??= setTimeout(() => {
      this.timer = null;
      for (const one of this.unrecorded) {
        const { number, status } = one;
        if (number !== null && status === 'running')
          this.tell({ type: 'command_said', number, ...saidBy(one, KEPT_MEANWHILE) });
      }
      this.unrecorded.clear();
    }, RECORD_MS);
  }

  private over(command: AgentCommand): void {
    this.begun.delete(command);
    if (command.number === null) return;
    this.ended.push(command);
    if (this.ended.length > MOST) this.ended.shift()?.shrink(KEPT_END);
    const { number, status, exitCode, told } = command;
    this.tell({ type: 'command_ended', number, status, exitCode, told, ...saidBy(command, KEPT_END) });
  }

  private seen({ number }: AgentCommand): void {
    if (number === null) return;
    const waiting = this.news.find((one) => one.type === 'command_ended' && one.number === number);
    if (waiting?.type === 'command_ended') waiting.told = true;
    else this.tell({ type: 'command_seen', number });
  }

  private tell(event: CommandEvent): void {
    this.news.push(event);
    this.wake();
  }
}

function saidBy({ ring }: AgentCommand, most: number): { output: string; outputBytes: number } {
  return { output: cleanText(terminalText(ring.end(most).toString())), outputBytes: ring.bytes };
}

function numberOf(id: string): number {
  return Number(/^b?(\d+)$/.exec(id)?.[1]);
}
