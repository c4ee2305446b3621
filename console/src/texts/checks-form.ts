/** Checks in the form of a new task. */
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
};
