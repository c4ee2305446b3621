import { count } from '../ui/format.ts';

/** Versions of an agent on the same work. */
export const evaluations = {
  begin: 'Compare versions',
  title: (name: string) => `Compare versions of ${name}`,
  about:
    'Tasks that have ended are done anew, each in each version, from what they began with. These are ordinary tasks: they use what tasks use, and push nothing. With checks you see which version is better; without, what it takes.',
  readOnly: 'Your key may not begin tasks, so you compare no versions.',
  versions: 'Versions',
  version: (n: number, isNewest: boolean) => `Version ${n}${isNewest ? ', the newest' : ''}`,
  tasks: 'Tasks to do anew',
  search: 'Search',
  noTasks: 'No task has ended yet. Let one of the agent’s tasks end first.',
  noneFound: 'No task that has ended has these words.',
  checked: 'with checks',
  repeat: 'How often each',
  times: (n: number) => (n === 1 ? 'once' : `${n} times`),
  makes: (n: number) => `Makes ${count(n)} ${n === 1 ? 'task' : 'tasks'}.`,
  start: 'Begin',
  starting: 'Beginning …',

  // One of them.
  ofOne: (name: string) => `Versions of ${name} compared`,
  running: (done: number, all: number) => `${count(done)} of ${count(all)} tasks have ended`,
  over: 'All tasks have ended',
  result: 'What they came to',
  nothing: 'All of its tasks are deleted.',
  by: (name: string) => `begun by ${name}`,
  each: 'Its tasks',
  columns: { case: 'Task', version: 'Version', attempt: 'Time', status: 'Status' },
  deleted: 'deleted',
  look: (n: number) => `Task ${n}`,
  again: 'Compare again',
};
