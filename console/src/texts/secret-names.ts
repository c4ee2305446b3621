/** Where secrets are chosen by their names. */
export const secretNames = {
  none: 'There is no secret yet.',
  unseen: 'This key does not see secrets: it lacks the scope automations:read.',
  notThere: 'not there now',
};
