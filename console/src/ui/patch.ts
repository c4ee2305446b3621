// A unified diff, from `git diff` or plain `diff -u`, as files with numbered lines.
import { diffWordsWithSpace } from 'diff/lib/diff/word.js';
import { parsePatch } from 'diff/lib/patch/parse.js';

export interface DiffLine {
  kind: 'add' | 'del' | 'same' | 'note';
  text: string;
  old: number | null;
  new: number | null;
  /** What changed within the line: [from, to) pairs. */
  marks?: [number, number][];
}

export interface DiffHunk {
  header: string;
  lines: DiffLine[];
}

export interface DiffFile {
  path: string;
  from: string | null;
  change: 'added' | 'deleted' | 'renamed' | 'modified' | 'mode' | 'binary';
  additions: number;
  deletions: number;
  hunks: DiffHunk[];
}

const strip = (name: string | undefined) =>
  name === undefined || name === '/dev/null' ? null : name.replace(/^[ab]\//, '');

export function readPatch(text: string): DiffFile[] {
  return parsePatch(text).map((file) => {
    const from = strip(file.oldFileName);
    const to = strip(file.newFileName);
    const hunks = file.hunks.map((hunk) => {
      let before = hunk.oldStart;
      let after = hunk.newStart;
      const lines = hunk.lines.map((line): DiffLine => {
        const rest = line.slice(1);
        if (line[0] === '+') return { kind: 'add', text: rest, old: null, new: after++ };
        if (line[0] === '-') return { kind: 'del', text: rest, old: before++, new: null };
        if (line[0] === '\\') return { kind: 'note', text: line.slice(2), old: null, new: null };
        return { kind: 'same', text: rest, old: before++, new: after++ };
      });
      mark(lines);
      return { header: `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`, lines };
    });
    const tally = (kind: DiffLine['kind']) =>
      hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
    const flags = file as {
      isCreate?: boolean;
      isDelete?: boolean;
      isRename?: boolean;
      oldMode?: string;
      newMode?: string;
    };
    const change =
      from === null || flags.isCreate
        ? 'added'
        : to === null || flags.isDelete
          ? 'deleted'
          : flags.isRename || from !== to
            ? 'renamed'
            : hunks.length > 0
              ? 'modified'
              : flags.oldMode !== undefined && flags.newMode !== undefined
                ? 'mode'
                : 'binary';
    return {
      path: to ?? from ?? '?',
      from: from === to ? null : from,
      change,
      additions: tally('add'),
      deletions: tally('del'),
      hunks,
    };
  });
}

/** In a block of as many removed as added lines, each pair shows what differs, unless nearly all of it does. */
function mark(lines: DiffLine[]) {
  for (let i = 0; i < lines.length;) {
    if (lines[i]?.kind !== 'del') {
      i += 1;
      continue;
    }
    let adds = i;
    while (lines[adds]?.kind === 'del') adds += 1;
    let end = adds;
    while (lines[end]?.kind === 'add') end += 1;
    if (adds - i === end - adds && adds - i <= 20) {
      for (let k = 0; k < adds - i; k += 1) markPair(lines[i + k], lines[adds + k]);
    }
    i = end;
  }
}

function markPair(before: DiffLine | undefined, after: DiffLine | undefined) {
  if (before === undefined || after === undefined) return;
  if (before.text.length + after.text.length > 600) return;
  const marks: [[number, number][], [number, number][]] = [[], []];
  let same = 0;
  let a = 0;
  let b = 0;
  for (const { value, added, removed } of diffWordsWithSpace(before.text, after.text)) {
    if (added) marks[1].push([b, (b += value.length)]);
    else if (removed) marks[0].push([a, (a += value.length)]);
    else {
      if (value.trim() !== '') same += value.length;
      a += value.length;
      b += value.length;
    }
  }
  if (same < 0.3 * Math.min(before.text.length, after.text.length)) return;
  before.marks = marks[0];
  after.marks = marks[1];
}
