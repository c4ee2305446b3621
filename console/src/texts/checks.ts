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
  is: {
    passed: 'passed',
    failed: 'failed',
    timed_out: 'took too long',
    error: 'could not be carried out',
    running: 'running',
  },
  exit: (code: number) => `exit ${code}`,
  optional: 'not required',
  before: { passed: 'passed before', failed: 'failed before', timed_out: 'took too long before', error: '' },
  command: (name: string) => `Command of ${name}`,
  output: (name: string) => `Output of ${name}`,
  hidden: 'This workspace shows no commands and no output.',
  notUsed: 'Changed, but not used here:',
  more: (n: number) => `and ${count(n)} more`,
  last: 'The last round',
  earlier: 'Earlier rounds',
  round: (turn: number, round: number) =>
    `Turn ${turn}, ${round === 0 ? 'first round' : `after ${round} ${round === 1 ? 'repair' : 'repairs'}`}`,
  show: 'Show the checks',
  hide: 'Hide the checks',

  // In the conversation.
  goesOn: (names: string, left: number) =>
    `These checks did not pass: ${names}. The agent goes on; it may do so ${left === 1 ? 'once' : `${left} times`} in this turn.`,
  hint: 'What was done so far stays. A message lets the agent go on, and all checks run again at its end.',

  // In the list.
  ofTask: (words: string) => `Checks: ${words}`,

  // In the form of a new task.
  about:
    'Commands that the service runs itself, in a clean copy of the work, before the task is done. Exit code 0 is a pass. What fails goes back to the agent.',
  name: (n: number) => `Name of check ${n}`,
  commandOf: (n: number) => `Command of check ${n}`,
  namePlaceholder: 'Name',
  take: (n: number) => `Remove check ${n}`,
  add: 'Add a check',
  protect: 'Protected paths',
  protectHint:
    'Such as test/**. The checks see them as they were at first, whatever the agent has made of them. Enter or a comma after each.',
  notPaths: 'Each must be one of the patterns of paths that lie in the folder of the task, such as test/**.',
  maxRepairs: 'Repairs in a turn',
  maxRepairsHint: 'How often the agent may go on: 0 to 10.',
};
