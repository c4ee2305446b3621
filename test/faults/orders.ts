// What the load asks for, and what must then be on record: nothing more, nothing less, in this order.
import { script } from '../harness/tasks.js';

/** Steps of every task: so many calls of the model, the last of which is the answer. */
export const STEPS = 5;
export const MODEL = 'faults';
/** Each drives its tasks by an agent program. */
export const ENGINES = ['engine', 'forgetful'] as const;
/** A command of a runbook has the most time that the sandbox gives: 10 minutes where the configuration does not say. */
const COMMAND_SECONDS = 600;

/**
 * `quick` is over in milliseconds; `slow` waits for its model at each step, so that a frozen worker wakes while another is
 * still at it; `shell` runs commands, which must not be silently repeated; `engine` has an agent program run the same,
 * `forgetful` one that forgets a step in which it is killed.
 */
export type Kind = 'quick' | 'slow' | 'shell' | (typeof ENGINES)[number];

export interface ExpectedCall {
  name: string;
  input: Record<string, unknown>;
  /** An interrupted command is on record as an error that says so. */
  mayBeInterrupted: boolean;
}

export interface Order {
  key: string;
  kind: Kind;
  body: { title: string; content: string; model: string };
  calls: ExpectedCall[];
}

/** @param pauseMs how long the model of a slow order thinks at each step, and each command of an agent program takes. */
export function orderOf(key: string, kind: Kind, pauseMs = 300): Order {
  const body = (content: string, model = 'runbook') => ({ title: key, content, model });
  const commands = [1, 2, 3].map((n) => `echo ${n} >> log\n`).concat('cat log\n');
  if (kind === 'engine' || kind === 'forgetful') {
    // Its effect comes first: a kill hits the command behind it, and one that ran once more would have a second.
    const slow = commands.map((command) => `${command}sleep ${pauseMs / 1000}\n`);
    const calls = slow.map((command) => ({ name: 'shell', input: { command }, mayBeInterrupted: true }));
    const answers = calls.map(({ name, input }) => ({ calls: [{ name, arguments: input }] }));
    return { key, kind, body: body(script(...answers, { text: 'Done.' }), kind), calls };
  }
  if (kind === 'shell') {
    const text = commands.map((command) => `\`\`\`sh may-fail\n${command}\`\`\``).join('\n');
    const calls = commands.map((command) => ({
      name: 'bash',
      input: { command, timeoutSeconds: COMMAND_SECONDS },
      mayBeInterrupted: true,
    }));
    return { key, kind, body: body(`${key}\n\n${text}`), calls };
  }
  const files = Array.from({ length: STEPS - 1 }, (_, n) => ({
    path: `step-${n + 1}.txt`,
    content: `${key} ${n + 1}\n`,
  }));
  const calls = files.map((input) => ({ name: 'write', input, mayBeInterrupted: false }));
  if (kind === 'quick') {
    const text = files.map(({ path, content }) => `\`\`\`file path=${path}\n${content}\`\`\``).join('\n');
    return { key, kind, body: body(`${key}\n\n${text}`), calls };
  }
  const answers = files.map((input) => ({ calls: [{ name: 'write', arguments: input }], firstByteMs: pauseMs }));
  return { key, kind, body: body(script(...answers, { text: 'Done.', firstByteMs: pauseMs }), MODEL), calls };
}

/** So many orders; of forty, two are slow and one runs commands. */
export function orders(name: string, count: number): Order[] {
  const kinds: Partial<Record<number, Kind>> = { 5: 'slow', 15: 'shell', 25: 'slow' };
  return Array.from({ length: count }, (_, n) => orderOf(`${name}-${n}`, kinds[n % 40] ?? 'quick'));
}
