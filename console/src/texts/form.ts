export const form = {
  tagHint: 'Press Enter or a comma after each. At most 16.',
  removeTag: (tag: string) => `Remove the tag ${tag}`,
  secretOnce: 'Copy it now. It is shown here once and never again; the service keeps only a fingerprint of it.',
  copySecret: 'Copy the secret',
  done: 'Done',
  whenBlocked: 'When a limit or an outage blocks it',
  blocked: { fail: 'Fail', wait: 'Wait' },
  waitHint:
    'Such as a used up allowance, an overloaded model or a repository that does not answer. A task that waits goes on by itself.',
  clear: (label: string) => `Clear: ${label}`,
};
