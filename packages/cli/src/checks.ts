// Commands that the service runs itself before a task is done (reference §26).
import { checkName, type CreateTask, type Millwright, type TaskCheck } from '@millwright/sdk';
import { client } from './account.js';
import { stay } from './following.js';
import { type Line, UsageError, type Verb } from './line.js';
import { faint, plain } from './terminal.js';

/** So many lines of the end of what a check that failed has written. */
const LAST_LINES = 12;

export const checks: Verb = {
  words: ['TASK'],
  options: { again: 'switch' },
  async run(line) {
    const mw = client();
    const task = line.word(0);
    const [newest] = line.has('again') ? (await mw.tasks.checks(task, { limit: 1 }).page()).items : [];
    const code = line.has('again') ? await again(mw, task) : 0;
    for await (const check of mw.tasks.checks(task)) {
      if (check.id === newest?.id) break;
      if (line.json) console.log(JSON.stringify(check));
      else print(check);
    }
    return code;
  },
};

/** Runs them, and stays until the task is final as it was. */
async function again(mw: Millwright, task: string): Promise<number> {
  let end = 0;
  for await (const { seq } of mw.tasks.history(task, { types: ['task.completed', 'task.failed', 'task.cancelled'] })) end = seq;
  await mw.tasks.runChecks(task);
  return stay(mw, task, { json: false, after: end });
} // prettier-ignore

function print(check: TaskCheck): void {
  const { name, required, turn, round, phase, status, output, protectedChanged } = check;
  const when = phase === 'before' ? ON_ORIGINAL : `turn ${turn}, round ${round}`;
  const optional = required ? '' : '  not required';
  console.log(`${plain(name)}  ${howItEnded(check)}  ${when}${optional}`);
  if (protectedChanged.length > 0) console.log(plain(`    changed, but not used here: ${protectedChanged.join(', ')}`));
  if (status === 'passed' || output === null || output.trim() === '') return;
  const lines = plain(output).trimEnd().split('\n');
  if (lines.length > LAST_LINES) console.log(faint(`    … ${lines.length - LAST_LINES} more lines`));
  for (const one of lines.slice(-LAST_LINES)) console.log(faint(`    ${one}`));
}

/** Of a check that runs before the agent has done anything. */
export const ON_ORIGINAL = 'on the original';
const WORDS = { passed: 'passed', failed: 'failed', timed_out: 'timed out', error: 'could not be carried out' };

/** Such as `failed, exit code 1, 2.4 s`. */
export function howItEnded({
  status,
  exitCode,
  durationMs,
}: Pick<TaskCheck, 'status' | 'exitCode' | 'durationMs'>): string {
  const code = status === 'failed' && exitCode !== null ? `, exit code ${exitCode}` : '';
  return `${WORDS[status]}${code}, ${(durationMs / 1000).toFixed(1)} s`;
}

/** Each `--check` with a name made of it, all of them with the same protected paths. */
export function checksIn(line: Line): Pick<CreateTask, 'checks' | 'maxRepairs'> {
  const [commands, protect, most] = [line.texts('check'), line.texts('protect'), line.text('max-repairs')];
  if (most !== undefined && !/^\d+$/.test(most)) throw new UsageError('--max-repairs takes a number.');
  if (protect.length > 0 && commands.length === 0) throw new UsageError('--protect goes with --check.');
  const names = new Set<string>();
  const given = commands.map((command) => {
    const name = checkName(command, names);
    names.add(name);
    return { name, command, ...(protect.length > 0 && { protect }) };
  });
  return { ...(given.length > 0 && { checks: given }), ...(most !== undefined && { maxRepairs: Number(most) }) };
}
