// Commands that the service runs itself before a task is done (reference §26).
import { checkName, type CreateTask, type TaskCheck } from '@millwright/sdk';
import { client } from './account.js';
import { type Line, UsageError, type Verb } from './line.js';
import { faint, plain } from './terminal.js';

/** So many lines of the end of what a check that failed has written. */
const LAST_LINES = 12;

export const checks: Verb = {
  words: ['TASK'],
  options: {},
  async run(line) {
    for await (const check of client().tasks.checks(line.word(0))) {
      if (line.json) console.log(JSON.stringify(check));
      else print(check);
    }
    return 0;
  },
};

function print(check: TaskCheck): void {
  const { name, required, turn, round, status, output, protectedChanged } = check;
  const optional = required ? '' : '  not required';
  console.log(`${plain(name)}  ${howItEnded(check)}  turn ${turn}, round ${round}${optional}`);
  if (protectedChanged.length > 0) console.log(plain(`    changed, but not used here: ${protectedChanged.join(', ')}`));
  if (status === 'passed' || output === null || output.trim() === '') return;
  const lines = plain(output).trimEnd().split('\n');
  if (lines.length > LAST_LINES) console.log(faint(`    … ${lines.length - LAST_LINES} more lines`));
  for (const one of lines.slice(-LAST_LINES)) console.log(faint(`    ${one}`));
}

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
