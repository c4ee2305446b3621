import type { RunResult } from './run-result.js';

/** How often the wall-clock limit of a command a service has. */
export const SERVICE_TIMES = 6;

/** What a terminal shows at once. */
export interface TerminalSize {
  columns: number;
  rows: number;
}

/** A command that has been started and may go on. */
export interface RunningCommand {
  /** As what `run` resolves with, and rejects with. It need not be waited for. */
  readonly ended: Promise<RunResult>;
  /** Gives it input, or types it in its terminal. False: it takes none, because that has ended, or much of it waits to be read; nothing is given. */
  write(bytes: string | Buffer): boolean;
  /** Ends its input; what was given before is still read. */
  end(): void;
  /** Kills all its processes at once. With a signal: sends that to them. Does nothing when it has ended. */
  stop(signal?: 'SIGINT' | 'SIGTERM'): void;
}
