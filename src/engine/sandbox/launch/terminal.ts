// A terminal for a command: a pseudo-terminal (pty(7)), which script(1) makes inside and joins to the streams of the command.
import { findProgram } from '../host.js';
import type { TerminalSize } from '../running-command.js';

/** What a command in a terminal has in its environment instead of what says that there is none. */
export const TERMINAL_VARIABLES = { TERM: 'xterm', CI: '' };

/**
 * The command in a terminal. Throws an error for the model where none can be made.
 * @param shell as seen inside.
 */
export function inTerminal(command: string, { columns, rows }: TerminalSize, shell: string): string {
  if (findProgram('script') === null) {
    throw new Error(
      'A terminal cannot be made here: the program script (package bsdutils) is not installed. Run the command without one.',
    );
  }
  // A terminal of streams that are none has no size, and in old versions no echo. The shell becomes the command's own: it is not `sh` by chance.
  const text = `stty echo columns ${columns} rows ${rows}\n${command}`;
  return `SHELL=${shell} exec script -qefc ${quoted(text)} /dev/null`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
