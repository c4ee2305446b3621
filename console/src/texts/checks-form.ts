import { count } from '../ui/format.ts';

/** Checks in a form: of a new task, a project, an automation, an environment. */
export const checksForm = {
  about:
    'Commands that the service runs itself, in a clean copy of the work, before the task is done. Exit code 0 is a pass. What fails goes back to the agent.',
  name: (n: number) => `Name of check ${n}`,
  commandOf: (n: number) => `Command of check ${n}`,
  namePlaceholder: 'Name',
  command: 'Command',
  take: (n: number) => `Remove check ${n}`,
  add: 'Add a check',
  protect: 'Protected paths',
  protectHint:
    'Such as test/**. The checks see them as they were at first, whatever the agent has made of them. Enter or a comma after each.',
  notPaths: 'Each must be one of the patterns of paths that lie in the folder of the task, such as test/**.',
  maxRepairs: 'Repairs in a turn',
  maxRepairsHint: 'How often the agent may go on: 0 to 10.',
  more: {
    optional: 'Not required',
    network: 'with the network of the task',
    seconds: (seconds: number) => `at most ${count(seconds)} seconds`,
    protects: (paths: string) => `protects ${paths} too`,
  },

  // Those that a project, an automation or an environment has for its tasks.
  defaults: 'Checks of its tasks',
  defaultsHint: 'Of those tasks that name none themselves.',
  of: {
    project: { inherited: 'Those of its environment', none: 'None', own: 'Those that stand here' },
    automation: { inherited: 'Those of its project', none: 'None', own: 'Those that stand here' },
    environment: { inherited: 'Nothing is said here', none: 'None', own: 'Those that stand here' },
  },
  repairs: (n: number) => `${count(n)} ${n === 1 ? 'repair' : 'repairs'} in a turn`,
};
