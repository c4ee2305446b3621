import { count } from '../ui/format.ts';

/** The checks of a task one by one, beside its conversation. */
export const checksPanel = {
  running: { before: 'runs on the original', after: 'running' },
  exit: (code: number) => `exit ${code}`,
  optional: 'not required',
  before: (words: string) => `${words} before`,
  command: (name: string) => `Command of ${name}`,
  output: (name: string) => `Output of ${name}`,
  outputBefore: (name: string) => `What ${name} wrote before`,
  on: { before: 'On the original', after: 'On the work' },
  hidden: 'This workspace shows no commands and no output.',
  notUsed: 'Changed, but not used here:',
  more: (n: number) => `and ${count(n)} more`,
  last: 'The last round',
  earlier: 'Earlier rounds',
  round: (turn: number, round: number) =>
    `Turn ${turn}, ${round === 0 ? 'first round' : `after ${round} ${round === 1 ? 'repair' : 'repairs'}`}`,
  proof: 'What the checks saw, signed by the service. Whoever has it can verify it:',
  saveProof: 'Save proof.json',
  again: 'Run the checks again',
  all: 'Save all of the output',
};
