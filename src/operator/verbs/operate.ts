// One call of the operator command: what it prints when it cannot be done, and its exit code (reference §16).
import { CommanderError } from 'commander';
import { databaseError } from '../../platform/database/database-errors.js';
import { ConfigurationError } from '../../platform/config/env.js';
import type { Extension } from '../../platform/plugins/extension.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { diskFull, saysFull } from '../../platform/disk/storage-full.js';
import { printable } from '../../platform/text/names.js';
import { Interrupted } from './interruption.js';
import { program } from './program.js';

/** Exit codes. 0 is done; a verb that finds a problem, such as `doctor`, sets 1 itself. */
const FAILED = 1;
const USAGE = 2;

/**
 * Carries out a command line. What went wrong is one sentence on standard error; with `--json` standard output has it too,
 * as `{"error": {"message"}}`, so that a program always finds one object there.
 * @returns the exit code: 0 done, 1 failed, 2 a wrong line, 128 and the signal's number when a signal ended it (130 for Ctrl-C).
 */
export async function operate(args: readonly string[], extensions: readonly Extension[]): Promise<number> {
  try {
    await program(new ExtensionSet(extensions)).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const message = sentenceOf(error);
    // Commander has said on standard error what is wrong with the line.
    if (!(error instanceof CommanderError)) console.error(printable(message));
    // Not by the parsed options: the line may be wrong before `--json`.
    if (args.includes('--json')) console.log(JSON.stringify({ error: { message } }));
    return error instanceof CommanderError ? USAGE : error instanceof Interrupted ? error.exitCode : FAILED;
  }
}

function sentenceOf(error: unknown): string {
  // Commander shows the help in place of an error.
  if (error instanceof CommanderError && error.code === 'commander.help')
    return 'A verb is missing; --help shows them.';
  if (error instanceof CommanderError) return error.message.replace(/^error: /, '');
  if (!(error instanceof Error)) return String(error);
  if (saysFull(error) && !(error instanceof ConfigurationError)) return `${diskFull()} (${error.message})`;
  // What the driver says alone ("Connection terminated unexpectedly") does not name the database.
  const database = error instanceof ConfigurationError ? undefined : databaseError(error);
  if (database !== undefined) return `${database.message} (${error.message})`;
  return error.message;
}
