import { plural } from '../ui/format.ts';

/** The folder of a task, as its snapshots have it. */
export const folder = {
  tree: 'Folders and files',
  snapshot: 'Snapshot',
  newest: (turn: number, at: string) => `Newest: turn ${turn}, ${at}`,
  ofTurn: (turn: number, at: string) => `Turn ${turn}, ${at}`,
  holds: (files: number, size: string) => `${plural(files, 'file')}, ${size}`,
  running: 'The agent is at work. Shown is the last snapshot.',
  none: 'No folder yet',
  noneText: 'When a run ends, what the folder of the task held is shown here.',
  gone: 'This snapshot is gone',
  goneText: 'Of each of the last 20 turns the last snapshot is kept, and over the storage limit only the newest one.',
  toNewest: 'Show the newest',
  noPath: 'There is no such path in this snapshot.',
  root: { '/workdir': 'Workdir', '/home/agent': 'Home', '/tmp': '/tmp' },
  empty: 'Empty',
  more: 'Show more',
  tryAgain: 'Try again:',
  choose: 'Choose a file to see it.',
  link: 'This is a link. It is shown as such, and not followed.',
  notShown: 'This file is too large to be shown, or is no text. Download it to see it.',
  emptyFile: 'The file is empty.',
  viewerOf: (path: string) => `Content of ${path}`,
  changed: 'changed',
  back: 'Back to the folders',
};
