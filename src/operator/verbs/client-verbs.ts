/** The verbs of `@millwright/cli`, to which `millwright` hands them. That command reaches a service by its API alone. */
export const CLIENT_VERBS: readonly string[] = [
  'login',
  'run',
  'follow',
  'send',
  'withdraw',
  'answer',
  'cancel',
  'pause',
  'resume',
  'fork',
  'archive',
  'tasks',
  'show',
  'files',
  'webhooks',
  'listen',
];
