import { count } from '../ui/format.ts';

const run = (names: readonly string[]) => `${names.join(' and ')} ${names.length === 1 ? 'runs' : 'run'}`;

/** What the service runs itself before a task is done. */
export const checks = {
  title: 'Checks',
  pending: 'at the end of this turn',
  passed: (passed: number, failed: number) =>
    failed === 0 ? `${count(passed)} passed` : `${count(passed)} passed, ${count(failed)} failed but not required`,
  failed: (failed: number, passed: number) =>
    passed === 0 ? `${count(failed)} failed` : `${count(failed)} failed, ${count(passed)} passed`,
  running: (names: readonly string[], passed: number, failed: number) =>
    [
      passed > 0 && `${count(passed)} passed`,
      failed > 0 && `${count(failed)} failed`,
      names.length === 0 ? 'checking' : run(names),
    ]
      .filter((part) => part !== false)
      .join(', '),
  onOriginal: (names: readonly string[]) => `${run(names)} on the original`,
  before: (passed: number, failed: number) =>
    failed === 0 ? `${count(passed)} passed before` : `${count(failed)} failed before`,
  /** In the line of the head, and of each check. */
  since: (before: string, now: string) => `${before} → ${now}`,
  mending: (failed: number, n: number, most: number | null) =>
    `${count(failed)} failed, mending ${n}${most === null ? '' : ` of ${most}`}`,
  error: 'could not be carried out',
  stopped: 'not finished',
  /** How one has ended. */
  is: {
    passed: 'passed',
    failed: 'failed',
    timed_out: 'took too long',
    error: 'could not be carried out',
  },

  // In the conversation.
  goesOn: (names: string, left: number) =>
    `These checks did not pass: ${names}. The agent goes on; it may do so ${left === 1 ? 'once' : `${left} times`} in this turn.`,
  hint: 'What was done so far stays. A message lets the agent go on, and all checks run again at its end.',

  // In the list.
  ofTask: (words: string, each: readonly string[] = []) => [`Checks: ${words}`, ...each].join('\n'),
};
