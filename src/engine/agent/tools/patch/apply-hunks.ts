import { Lines } from '../edit/lines.js';
import { matched } from '../edit/match.js';
import { replaced } from '../edit/edit-diff.js';
import type { Hunk } from './patch-grammar.js';

/** `@@ -1,4 +1,5 @@ def f():` of a unified diff: its numbers are seldom right, what is behind them is. */
const NUMBERS = /^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?/;

/**
 * A text with the hunks applied, each behind the one before it, by the stages of `edit`: what could stand at two places is refused.
 * Throws an `Error` for the model, with the line of the patch.
 */
export async function applyHunks(text: string, hunks: Hunk[], path: string): Promise<string> {
  // A hunk is made of whole lines; the last line of a file may lack its end, and keeps lacking it.
  const ended = text === '' || text.endsWith('\n');
  let now = ended ? text : `${text}\n`;
  let from = 0;
  for (const hunk of hunks) {
    try {
      ({ now, from } = await applied(now, from, hunk, path));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const said = why.replaceAll('oldText', 'its old text').replaceAll('newText', 'its new text');
      throw new Error(`The hunk at line ${hunk.line} of the patch: ${said}`, { cause: error });
    }
  }
  return ended || !now.endsWith('\n') ? now : now.slice(0, now.endsWith('\r\n') ? -2 : -1);
}

async function applied(text: string, behind: number, hunk: Hunk, path: string): Promise<{ now: string; from: number }> {
  const { before, after, atEnd } = hunk;
  let from = behind;
  for (const anchor of hunk.anchors) from = behindAnchor(text, from, anchor, path);
  if (before.length === 0) {
    const offset = hunk.anchors.some((anchor) => named(anchor) !== '') ? from : text.length;
    const by = linesOf(after, text.includes('\r\n'));
    return { now: text.slice(0, offset) + by + text.slice(offset), from: offset + by.length };
  }
  if (atEnd) from = Math.max(from, startOfLast(text, before.length));
  // Blank lines instead of what is before, so that the numbers in a refusal are those of the file.
  const skipped = linesBefore(text, from);
  const file = await Lines.of('\n'.repeat(skipped) + text.slice(from));
  const edit = { oldText: linesOf(before, false), newText: linesOf(after, false), replaceAll: false };
  if (edit.oldText === edit.newText) return { now: text, from };
  const { changes } = await matched(file, edit, path);
  const now = text.slice(0, from) + (await replaced(file.text, changes)).slice(skipped);
  const [change = { end: 0, start: 0, by: '' }] = changes;
  return { now, from: from + change.start - skipped + change.by.length };
}

/** The beginning of the line after the first one that is the anchor, but for white space around it. */
function behindAnchor(text: string, from: number, anchor: string, path: string): number {
  const wanted = named(anchor);
  if (wanted === '') return from;
  for (let start = from; start < text.length;) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? undefined : end);
    start = end < 0 ? text.length : end + 1;
    if (line.trim() === wanted) return start;
  }
  throw new Error(
    `its line "@@ ${wanted.slice(0, 200)}" is not in ${path}${from > 0 ? ' behind the hunk before it' : ''}. Nothing was changed: read the file again.`,
  );
}

function linesBefore(text: string, offset: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function named(anchor: string): string {
  return anchor.replace(NUMBERS, '').trim();
}

function linesOf(lines: string[], crlf: boolean): string {
  return lines.map((line) => line + (crlf ? '\r\n' : '\n')).join('');
}

/** Where the last so many lines of a text that ends with a line end begin. */
function startOfLast(text: string, count: number): number {
  let start = text.length;
  for (let n = 0; n < count && start > 0; n++) start = text.lastIndexOf('\n', start - 2) + 1;
  return start;
}
