export const form = {
  tagHint: 'Press Enter or a comma after each. At most 16.',
  removeTag: (tag: string) => `Remove the tag ${tag}`,
  secretOnce: 'Copy it now. It is shown here once and never again; the service keeps only a fingerprint of it.',
  copySecret: 'Copy the secret',
  done: 'Done',
  clear: (label: string) => `Clear: ${label}`,
};
