// Models put blank lines around a text that they copy, as between the tags of a prompt.
import type { Lines } from './lines.js';

/** An edit whose texts stood between blank lines, without these. */
export interface Unframed {
  oldText: string;
  newText: string;
  /** The new text has none of them: where the file has blank lines, these may be meant to go. */
  goes: boolean;
}

/** Null when the old text has no more around it than a line end, and when the new one has other blank lines: some are meant then. */
export function withoutBlankEdges(oldText: string, newText: string): Unframed | null {
  const [old, written] = [framed(oldText), framed(newText)];
  if (old === null || written === null || (old.before === 0 && old.after < 2)) return null;
  const goes = written.before === 0 && written.after === 0;
  if (!goes && (old.before !== written.before || old.after !== written.after)) return null;
  return { oldText: old.text, newText: written.text, goes };
}

/** Whether an occurrence, from the beginning of a line to the end of one, has a blank line before or behind it. */
export function isBesideBlank(file: Lines, start: number, end: number): boolean {
  const [first, last] = [file.at(start), file.at(end)];
  const isBlank = (line: number) => line >= 0 && file.start(line) < file.text.length && file.line(line).trim() === '';
  return isBlank(first - 1) || isBlank(last + 1);
}

/** The text from its first line to its last that are not blank, and how many line ends stand around it; null when all are blank. */
function framed(text: string): { before: number; text: string; after: number } | null {
  const first = text.search(/\S/);
  if (first < 0) return null;
  const begin = text.lastIndexOf('\n', first) + 1;
  const end = text.trimEnd().length;
  return { before: lineEnds(text.slice(0, begin)), text: text.slice(begin, end), after: lineEnds(text.slice(end)) };
}

function lineEnds(text: string): number {
  return text.split('\n').length - 1;
}
