import { count } from '../ui/format.ts';

/** The checks of a task one by one, beside its conversation. */
export const checksPanel = {
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
};
