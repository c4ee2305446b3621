// The change that a call of `edit` makes, as a patch of one file.
import { diffLines } from 'diff/lib/diff/line.js';
import { type DiffFile, type DiffLine, readPatch } from '../../ui/patch.ts';

/** The hunks of the service, with the numbers of their lines; before there are any, the two texts. */
export function editAsDiff(path: string, before: string, after: string, hunks = ''): DiffFile {
  const patch = hunks.startsWith('@@') && !hunks.includes('\n[…') ? patchOf(path, hunks) : undefined;
  return patch ?? asDiff(path, before, after);
}

function patchOf(path: string, hunks: string): DiffFile | undefined {
  try {
    const file = readPatch(`--- a/file\n+++ b/file\n${hunks}\n`)[0];
    return file && { ...file, path };
  } catch {
    return undefined;
  }
}

/** Of the texts alone it is not known where they stand in the file. */
function asDiff(path: string, before: string, after: string): DiffFile {
  const whole = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
  const lines = diffLines(whole(before), whole(after)).flatMap(({ added, removed, value }): DiffLine[] => {
    const kind = added ? 'add' : removed ? 'del' : 'same';
    const texts = value.replace(/\n$/, '').split('\n');
    return texts.map((text) => ({ kind, text, old: null, new: null }));
  });
  const tally = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length;
  const hunk = { header: '', lines };
  return { path, from: null, change: 'modified', additions: tally('add'), deletions: tally('del'), hunks: [hunk] };
}
