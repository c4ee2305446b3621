// Comments on lines of the changes; a part of `task.ts`.
type Side = 'old' | 'new';
const lines = (line: number, endLine: number) => (line === endLine ? `line ${line}` : `lines ${line} to ${endLine}`);
const was = (side: Side) => (side === 'old' ? ' before' : '');

export const review = {
  commentOn: (line: number, endLine: number, side: Side) => `Comment on ${lines(line, endLine)}${was(side)}`,
  keys: 'Arrow keys choose a line, with Shift several; C or Enter comments',
  on: (line: number, endLine: number, side: Side) =>
    `${line === endLine ? `Line ${line}` : `Lines ${line}–${endLine}`}${was(side)}`,
  hint: 'What should change here?',
  another: 'Touch another number for several lines.',
  add: 'Add the comment',
  save: 'Save',
  edit: 'Edit',
  remove: 'Remove',
  outdated: 'outdated',
  outdatedText: 'These lines are not in the patch any more. The comment is sent with what it quotes.',
  title: 'Review',
  count: (number: number) => `${number} ${number === 1 ? 'comment' : 'comments'}`,
  overall: 'Say something about all of it (optional)',
  send: 'Send review',
  sent: 'Sent',
  full: (most: number) => `A review has at most ${most} comments.`,
  more: (number: number) => `… ${number} more ${number === 1 ? 'line' : 'lines'}`,
};
