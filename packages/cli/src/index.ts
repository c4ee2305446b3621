// The command of those who give work to a service (reference §19): its verbs and its exit codes.
import { ConnectionError, MillwrightError, ProofError } from '@millwright/sdk';
import { AGENTS } from './agents.js';
import { ENVIRONMENTS } from './environments.js';
import { help, helpOf, version } from './help.js';
import { parse, UsageError, type Verb } from './line.js';
import { Interrupted } from './interrupts.js';
import { SECRETS } from './secrets.js';
import { SKILLS } from './skills.js';
import { plain } from './terminal.js';
import { VERBS } from './verbs.js';
import { PARTS as WEBHOOKS } from './webhooks.js';

export { type Entry, Transcript } from './transcript.js';

/** 0 completed, 1 failed, 2 a wrong line, 3 waits for a person, 4 cancelled, 5 refused or unreachable, 130 interrupted. */
export const EXIT = { done: 0, failed: 1, usage: 2, waits: 3, cancelled: 4, refused: 5, interrupted: 130 } as const;

/** Their first word says what. */
const GROUPS: Record<string, Record<string, Verb | undefined>> = {
  webhooks: WEBHOOKS,
  secrets: SECRETS,
  environments: ENVIRONMENTS,
  agents: AGENTS,
  skill: SKILLS,
};

/** Carries out a command line and sets the exit code of the process. */
export async function main(args: readonly string[]): Promise<void> {
  // `mw tasks | head -1`: the reader has what it wanted.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  process.exitCode = await codeOf(args);
}

async function codeOf(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) return printed(help(), EXIT.usage);
  if (name === '--version') return printed(version(), EXIT.done);
  const words = name === 'help' ? rest : [name];
  const options = args.slice(0, args.includes('--') ? args.indexOf('--') : args.length);
  if (name === 'help' || options.some((word) => word === '--help' || word === '-h')) {
    return printed(helpOf(words[0] ?? '') ?? help(), EXIT.done);
  }
  try {
    const parts = Object.hasOwn(GROUPS, name) ? GROUPS[name] : undefined;
    if (parts !== undefined) return await ofGroup(name, parts, rest);
    const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
    if (verb === undefined) throw new UsageError(`'${name}' is no verb: 'mw --help' shows them.`);
    return await verb.run(parse(name, rest, verb));
  } catch (error) {
    if (error instanceof Interrupted) return EXIT.interrupted;
    const failure = failureOf(error);
    if (failure === null) throw error;
    const { message, code, refusal } = failure;
    console.error(plain(message));
    if (options.includes('--json')) console.log(JSON.stringify({ error: { message, ...refusal } }));
    return code;
  }
}

function ofGroup(group: string, parts: Record<string, Verb | undefined>, args: readonly string[]): Promise<number> {
  const [name = '', ...rest] = args;
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (part === undefined)
    throw new UsageError(`Expected: mw ${group} ${Object.keys(parts).join('|')}. 'mw ${group} --help' shows more.`);
  return part.run(parse(`${group} ${name}`, rest, part));
}

/** What a person is told, and what a program is; null for a mistake of this program. */
function failureOf(error: unknown): { message: string; code: number; refusal?: object } | null {
  if (error instanceof UsageError) return { message: error.message, code: EXIT.usage };
  if (error instanceof MillwrightError) {
    const { status, type, code, param, retryable, requestId } = error;
    const request = requestId === null ? '' : ` (request ${requestId})`;
    const hint = status === 401 ? " 'mw login' keeps another key; MILLWRIGHT_API_KEY wins over it." : '';
    const refusal = { status, type, code, param, retryable, requestId };
    return { message: `${error.message}${hint}${request}`, code: EXIT.refused, refusal };
  }
  if (error instanceof ProofError) return { message: error.message, code: EXIT.failed };
  if (error instanceof ConnectionError) return { message: error.message, code: EXIT.refused };
  // A missing file, a folder that cannot be written: the line is to be changed.
  if (error instanceof Error && 'syscall' in error) return { message: error.message, code: EXIT.usage };
  return null;
}

function printed(text: string, code: number): number {
  console.log(text);
  return code;
}
