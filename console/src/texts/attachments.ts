export const attachments = {
  list: 'Attachments',
  attach: 'Attach files',
  attachTitle: 'Attach files; dropping and pasting works too',
  chosen: 'Files to attach',
  drop: 'Drop to attach',
  remove: (name: string) => `Remove ${name}`,
  retry: (name: string) => `Upload ${name} again`,
  sent: (share: number) => `${Math.round(share * 100)} %`,
  most: (most: number) => `At most ${most} files can be sent along.`,
  stopped: 'A file that was still on its way was left out.',
  folder: (name: string) => `${name} is a folder. Pack it into one file, such as a zip, and attach that.`,
};
