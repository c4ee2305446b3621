import type { DestinationStream } from 'pino';

interface Line {
  level: number;
  context?: string;
  msg?: string;
  stack?: string;
  err?: { message: string; stack?: string };
  [more: string]: unknown;
}

const DEBUG = 20;
const INFO = 30;
const WARN = 40;
const ERROR = 50;
/** What the service itself says to the operator; everything else is about a part of it. */
const OWN = 'Millwright';
/** A line for each request is for a collector of lines, not for a person who watches. */
const REQUESTS = 'http';

/**
 * The lines of the log as a person reads them. While the process boots, the parts' own reports are left out: who starts the
 * service is told where it listens and what it works with. Warnings and errors are always shown.
 */
export class TerminalLines implements DestinationStream {
  private booting = true;

  /** @param verbose shows all that is logged, as LOG_LEVEL `debug` and `trace` ask for. */
  constructor(
    private readonly out: { write(text: string): unknown },
    private readonly verbose: boolean,
  ) {}

  /** From here on the reports of parts are shown too. */
  booted(): void {
    this.booting = false;
  }

  /** @param json one line of pino. */
  write(json: string): void {
    const line = JSON.parse(json) as Line;
    const left = line.context === REQUESTS || (this.booting && line.context !== OWN);
    if (left && !this.verbose && line.level === INFO) return;
    this.out.write(`${inWords(line)}\n`);
  }
}

function inWords({ level, context, msg, stack, err, ...more }: Line): string {
  const kind = level >= ERROR ? 'Error' : level >= WARN ? 'Warning' : level <= DEBUG ? 'Debug' : '';
  const who = context === undefined || context === OWN ? '' : context;
  const mark = [kind, who].filter((word) => word !== '').join(', ');
  const { time: _time, ...details } = more;
  const rest = Object.keys(details).length > 0 ? JSON.stringify(details) : undefined;
  const said = [msg, err?.stack ?? err?.message, rest, stack].filter((part) => part !== undefined);
  return harmless(`${mark === '' ? '' : `${mark}: `}${said.join('\n')}`);
}

/** A line may quote what a client or a command sent. Control characters in it would steer the terminal: they are shown as `\x1b`. */
function harmless(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
