/** Where skills are chosen, and named. */
export const skillField = {
  label: 'Skills',
  usual: 'Those that all tasks have',
  named: 'Those that are chosen here',
  names: 'Which skills it has',
  namesHint: 'Each in its newest version. Skills of the repository and of the project come to these.',
  notThere: 'not there now',
  none: 'None',
  at: (name: string, version: number) => `${name}, version ${version}`,
};
