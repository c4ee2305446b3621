// The words that a command is started by.
import { needProgram } from '../host.js';
import { prlimit } from '../limits/process-limits.js';
import type { RunResult } from '../run-result.js';
import type { SandboxLimits } from '../sandbox.js';

/** What one command has of its own. */
export interface EntryOptions {
  /** By which the box knows it. */
  id: string;
  /** By which its processes are known. */
  mark: number;
  /** The folder that it runs in, as it is named inside. */
  cwd: string;
  /** How large a file it may make, in bytes; 0: none, and it may still delete. */
  fileBytes: number;
  /** Seconds that it may take at most; Infinity: no limit. */
  wallClockSeconds: number;
  /** Of each of its processes, where it has a limit of its own. */
  memoryBytes?: number;
}

// The kernel takes at most 128 KiB as one argument (MAX_ARG_STRLEN, execve(2)).
const MAX_ARGUMENT = 128 * 1024 - 1;
// The command and its variables together: ARG_MAX is a quarter of the stack's limit, 2 MiB as a rule.
const MAX_ARGUMENTS = 1024 * 1024;
// At most four bytes each. A longer command is split into several arguments: a file for it would be one of the host's, open inside.
const PIECE = /[^]{1,32000}/gu;
const CANNOT_RUN = 126;
const JOINED = `IFS=; eval "IFS=' \t\n'; set --\n$*"`;

/** The result of a command that was not begun, with the reason. */
export const cannotRun = (wrong: string): RunResult => ({
  exitCode: CANNOT_RUN,
  stdout: '',
  stderr: `${wrong}\n`,
  truncated: false,
  killed: null,
});

/** The program that a command is, with all that it finds in its environment. */
export function shellWords(shell: readonly string[], variables: Record<string, string>, command: string): string[] {
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const long = Buffer.byteLength(command) > MAX_ARGUMENT;
  const text = long ? [JOINED, shell[0] ?? '', ...(command.match(PIECE) ?? [])] : [command];
  return ['/usr/bin/env', '-i', ...assignments, ...shell, '-c', ...text];
}

/**
 * What the first process of a box starts: a session of its own, limits, the folder, the command. @param init the script of that name.
 * @param how `session`: without a process namespace there is none, and the small parent ends the group that it is in otherwise.
 */
export function entryWords(
  init: string,
  command: string[],
  limits: SandboxLimits,
  {
    id,
    mark,
    cwd,
    fileBytes,
    wallClockSeconds,
    memoryBytes = limits.memoryBytes,
    session,
  }: EntryOptions & { session: boolean },
): string[] {
  const own = session ? [needProgram('setsid', 'util-linux')] : [];
  return [
    ...own,
    ...prlimit({ ...limits, wallClockSeconds, memoryBytes }, fileBytes, mark),
    '/bin/sh',
    '-c',
    init,
    'init',
    id,
    cwd,
    ...command,
  ];
}

/** Why a command cannot be handed over at all, for the model. */
export function refusal(command: string, env: Record<string, string> = {}): string | null {
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

/** The result, with notes on the workdir for the model behind it. */
export function withNotes(result: RunResult, [lost, note, full]: (string | null)[]): RunResult {
  const kept = full == null ? null : `${full}. The command could delete files, but make none larger`;
  const notes = [lost, note, kept].flatMap((one) => (one == null ? [] : [`[${one}.]\n`]));
  if (notes.length === 0) return result;
  const { stderr } = result;
  return { ...result, stderr: [stderr, stderr === '' || stderr.endsWith('\n') ? '' : '\n', ...notes].join('') };
}
