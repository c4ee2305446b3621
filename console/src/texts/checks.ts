import { count } from '../ui/format.ts';

/** What the service runs itself before a task is done. */
export const checks = {
  title: 'Checks',
  pending: 'at the end of this turn',
  passed: (passed: number, failed: number) =>
    failed === 0 ? `${count(passed)} passed` : `${count(passed)} passed, ${count(failed)} failed but not required`,
  failed: (failed: number, passed: number) =>
    passed === 0 ? `${count(failed)} failed` : `${count(failed)} failed, ${count(passed)} passed`,
  running: (name: string | null, passed: number, failed: number) =>
    [
      passed > 0 && `${count(passed)} passed`,
      failed > 0 && `${count(failed)} failed`,
      name === null ? 'checking' : `${name} runs`,
    ]
      .filter((part) => part !== false)
      .join(', '),
  mending: (failed: number, n: number, most: number | null) =>
    `${count(failed)} failed, mending ${n}${most === null ? '' : ` of ${most}`}`,
  error: 'could not be carried out',
  stopped: 'not finished',

  // In the conversation.
  goesOn: (names: string, left: number) =>
    `These checks did not pass: ${names}. The agent goes on; it may do so ${left === 1 ? 'once' : `${left} times`} in this turn.`,
  hint: 'What was done so far stays. A message lets the agent go on, and all checks run again at its end.',

  // In the list.
  ofTask: (words: string) => `Checks: ${words}`,
};
