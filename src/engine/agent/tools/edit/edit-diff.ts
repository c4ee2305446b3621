import { setImmediate } from 'node:timers/promises';
import { structuredPatch } from 'diff';
import type { Lines } from './lines.js';
import type { Change } from './change.js';

const MOST_LINES = 60;
const LINE_LENGTH = 240;
const CONTEXT = 3;
/** Above it the comparison is not worth its time: the diff has the whole old text as removed, and the new as added. */
const LENGTH = 200_000;
const STEPS = 200;

/** What the changes do: the hunks of a unified diff, at most 60 lines. Line ends are left out. */
export async function diffOf(file: Lines, changes: Change[]): Promise<string> {
  const diff: string[] = [];
  let added = 0;
  for (let at = 0; at < changes.length && diff.length <= MOST_LINES;) {
    const group = together(file, changes, at);
    const [first] = group;
    if (first === undefined) break;
    const from = Math.max(0, file.at(first.start) - CONTEXT);
    const to = file.at(group.at(-1)?.end ?? first.end) + CONTEXT + 1;
    const begin = file.start(from);
    const before = file.text.slice(begin, file.start(to));
    const after = await replaced(before, group, begin);
    const hunks = hunksOf(before, after);
    for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
      diff.push(
        `@@ -${oldStart + from},${oldLines} +${newStart + from + added},${newLines} @@`,
        ...lines.map(truncated),
      );
      added += newLines - oldLines;
    }
    at += group.length;
  }
  if (diff.length <= MOST_LINES) return diff.join('\n');
  return [...diff.slice(0, MOST_LINES - 1), '[… The rest of the diff is left out.]'].join('\n');
}

/** The changes whose lines around them meet: one window. A window of many is long enough to be the last. */
function together(file: Lines, changes: Change[], from: number): Change[] {
  const group: Change[] = [];
  for (const change of changes.slice(from, from + MOST_LINES)) {
    const last = group.at(-1);
    if (last !== undefined && file.at(change.start) - file.at(last.end) > 2 * CONTEXT) break;
    group.push(change);
  }
  return group;
}

/** The text with its changes, whose offsets count from `begin` on. */
export async function replaced(text: string, changes: Change[], begin = 0): Promise<string> {
  let result = '';
  let parts: string[] = [];
  let from = 0;
  for (const { start, end, by } of changes) {
    parts.push(text.slice(from, start - begin), by);
    from = end - begin;
    if (parts.length < 20_000) continue;
    result += parts.join('');
    parts = [];
    await setImmediate();
  }
  return result + parts.join('') + text.slice(from);
}

interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

function hunksOf(before: string, after: string): Hunk[] {
  const short = before.length + after.length <= LENGTH;
  const options = { context: CONTEXT, maxEditLength: STEPS };
  const patch = short ? structuredPatch('', '', before, after, '', '', options) : undefined;
  if (patch !== undefined) return patch.hunks;
  const old = before.split('\n', MOST_LINES).map((line) => `-${line}`);
  const written = after.split('\n', MOST_LINES).map((line) => `+${line}`);
  const lines = [...old.slice(0, MOST_LINES / 2), '[…]', ...written, '[…]'];
  return [{ oldStart: 1, oldLines: lineCount(before), newStart: 1, newLines: lineCount(after), lines }];
}

function lineCount(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) at = text.indexOf('\n', at) + 1 || text.length;
  return count;
}

function truncated(line: string): string {
  const text = line.replace(/\r$/, '');
  return text.length > LINE_LENGTH
    ? `${text.slice(0, LINE_LENGTH)} [… ${text.length - LINE_LENGTH} characters left out]`
    : text;
}
