// What a person sees of a task while it is followed: answers on standard output, progress on standard error.
import type { Delta, Task, TaskEvent } from '@millwright/sdk';
import { howItEnded, ON_ORIGINAL } from './checks.js';
import { faint, plain, short } from './terminal.js';
import { type Entry, type ToolCall, Transcript } from './transcript.js';

/** So many lines of the end of what a command has written. */
const LAST_LINES = 8;
const MARK = '    ';

/** Prints events, and what is still being made, as it comes. */
export class Progress {
  /** The number of the last event. */
  last = 0;
  private readonly transcript = new Transcript();
  /** Whether the last line of the agent's words may go on. */
  private open = false;

  /** @param answers where the agent's words go. */
  constructor(
    private readonly json: boolean,
    private readonly answers: NodeJS.WriteStream = process.stdout,
  ) {}

  event(event: TaskEvent | Delta): void {
    if ('seq' in event) this.last = event.seq;
    if (this.json) {
      if ('seq' in event) console.log(JSON.stringify(event));
      return;
    }
    for (const entry of this.transcript.read(event)) this.entry(entry);
    if (event.type === 'file.published') {
      const { name, size } = event.data.file;
      this.note(`+ ${plain(name)} (${size} bytes)`);
    } else if (event.type === 'check.started') this.note(`▸ check ${plain(event.data.name)}${where(event.data)}`);
    else if (event.type === 'check.completed')
      this.note(`${MARK}${plain(event.data.name)}${where(event.data)} ${howItEnded(event.data)}`);
    else if (event.type === 'command.started') this.note(`▸ ${event.data.commandId} goes on`);
    else if (event.type === 'command.ended') this.note(`${MARK}${event.data.commandId} ${event.data.status}`);
    else if ('seq' in event && 'data' in event && 'status' in event.data) this.status(event.data);
  }

  /** What the task waits for, if it does. */
  waits({ waitingFor }: Pick<Task, 'waitingFor'>): void {
    if (!this.json && waitingFor !== null) this.note(faint(waitingLine(waitingFor)));
  }

  /** The end of an answer that was being shown, when something else comes. */
  close(): void {
    if (this.open) this.answers.write('\n');
    this.open = false;
  }

  private entry(entry: Entry): void {
    switch (entry.type) {
      case 'text': {
        if (entry.begins) this.close();
        // In a file or a pipe it is what the model has said, to the letter.
        this.answers.write(this.answers.isTTY ? plain(entry.text) : entry.text);
        this.open = true;
        if (entry.ends) this.close();
        return;
      }
      case 'discarded':
        return this.note('  (That answer was cut off. It is asked for again.)');
      case 'call':
        return this.note(`▸ ${plain(entry.call.name)} ${short(aboutCall(entry.call))}`);
      case 'output':
        return this.note(faint(MARK + plain(entry.line)));
      case 'result':
        return this.result(entry);
      default:
    }
  }

  private result({ result, output }: Extract<Entry, { type: 'result' }>): void {
    if (result.status !== 'success') {
      return this.note(`${MARK}${result.status === 'error' ? `error: ${plain(result.error)}` : 'denied'}`);
    }
    const exitCode = (result.output as { exitCode?: number } | null)?.exitCode;
    if (exitCode === undefined) return this.note(faint(MARK + short(result.output)));
    const lines = output === '' ? [] : plain(output).trimEnd().split('\n');
    const shown = lines.slice(-LAST_LINES);
    if (shown.length < lines.length) this.note(faint(`${MARK}… ${lines.length - shown.length} more lines`));
    for (const line of shown) this.note(faint(MARK + line));
    if (exitCode !== 0) this.note(`${MARK}exit code ${exitCode}`);
  }

  private status({ status, statusReason }: Pick<Task, 'status' | 'statusReason'>): void {
    this.note(statusReason === null ? `● ${status}` : `● ${status}: ${plain(statusReason.message)}`);
  }

  private note(line: string): void {
    this.close();
    console.error(line);
  }
}

/** One line about what a task waits for. */
export function waitingLine({ code, message }: NonNullable<Task['waitingFor']>): string {
  return plain(`… waiting for ${code}: ${message}`);
}

const where = ({ phase }: { phase: string }): string => (phase === 'before' ? ` ${ON_ORIGINAL}` : '');

/** What of a call says most. */
function aboutCall({ input }: ToolCall): unknown {
  const known = (input ?? {}) as Record<string, unknown>;
  return ['command', 'path', 'question'].map((name) => known[name]).find((value) => typeof value === 'string') ?? input;
}
