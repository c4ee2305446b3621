// Why an edit was not made, in words with which the model can make it.
import { setImmediate } from 'node:timers/promises';
import { isNumbered } from './line-numbers.js';
import { Lines } from './lines.js';
import { plain } from './look-alikes.js';
import type { Edit, Match } from './change.js';

const SHOWN_LINES = 12;
const SHOWN_LENGTH = 240;
const UNCHANGED = 'Nothing was changed';

/** A line that stands for lines left out: `// ... rest of the code`, `# … unchanged`, `(rest of methods ...)`. */
const COMMENT = /^(?:\/\/|#|--|\/\*|<!--|\{\/\*|;|%|\(|\[)\s*/;
const DOTS = /(?:\.{3,}|…)/;
const LEFT_OUT = /\b(?:rest|existing|unchanged|remaining|remainder|same as|as before|previous|other|omitted|snip|keep|more)\b/i; // prettier-ignore
/** `...` alone is Python; only a comment says that something is left out. */
const ONLY_DOTS = /^(?:\/\/|#|--|\/\*|<!--|\{\/\*|;|%)\s*(?:\.{3,}|…)\s*(?:\*\/\}?|-->)?$/;

/** Refuses a new text with which something would come into the file, or go from it, that nobody meant. */
export async function checkNewText({ oldText, newText }: Edit): Promise<void> {
  if (oldText === newText) throw new Error('oldText and newText are the same, so nothing was changed.');
  if (isNumbered(newText) && !isNumbered(oldText)) {
    throw new Error(`newText has the line numbers of \`read\`. ${UNCHANGED}: leave them out.`);
  }
  const left = await leftOut(newText);
  const had = new Set(await leftOut(oldText));
  const extra = left.find((line) => !had.has(line));
  if (extra === undefined) return;
  const shown = extra.slice(0, 80);
  throw new Error(
    `newText has a line that stands for text left out: ${shown}\nIt would replace that text. ${UNCHANGED}: write all lines out, or edit a smaller part.`,
  );
}

async function leftOut(text: string): Promise<string[]> {
  if (!DOTS.test(text)) return [];
  const found: string[] = [];
  const lines = await Lines.of(text);
  for (let line = 0; line < lines.count; line++) {
    if (line % 10_000 === 9_999) await setImmediate();
    const one = lines.line(line);
    if (one.length < 240 && isLeftOut(one.trim())) found.push(one.trim());
  }
  return found;
}

function isLeftOut(line: string): boolean {
  if (line.length > 120 || !DOTS.test(line)) return false;
  if (ONLY_DOTS.test(line)) return true;
  const words = line.replace(COMMENT, '');
  const begins = DOTS.exec(words)?.index === 0;
  const ends = /(?:\.{3,}|…)\s*(?:\*\/\}?|-->|\)|\])?$/.test(words);
  return (begins || (ends && words !== line)) && (words !== line || begins) && LEFT_OUT.test(words);
}

const OVERLOOKED: Record<Match, string> = {
  exact: '',
  line_ends: ', but for line ends',
  trailing_space: ', but for white space at the ends of lines',
  look_alike: ', but for characters that look alike',
  line_numbers: ', without its line numbers',
  indentation: ', but for its indentation',
  blank_edges: ', without the blank lines around it',
  escapes: ', without its escapes',
};

/** `lines` from 0. */
export function occursOften(lines: number[], path: string, match: Match): Error {
  const shown = lines.slice(0, 10).map((line) => line + 1).join(', '); // prettier-ignore
  const all = match === 'exact' || match === 'line_ends' ? ', or set replaceAll' : '';
  return new Error(
    `oldText occurs ${lines.length} times in ${path}${OVERLOOKED[match]} (lines ${shown}${lines.length > 10 ? ', …' : ''}). ` +
      `${UNCHANGED}: add the lines around it until it is unique${all}.`,
  );
}

const EXACTLY = 'copy oldText exactly';
const UNCLEAR = {
  exact: [
    'is where oldText begins, behind its indentation, so how newText is to be indented is not clear',
    'begin oldText with the indentation of the line, and indent all of newText as it is to stand',
  ],
  indentation: [
    'is the same but for its indentation, and how newText is to be indented does not follow from it',
    EXACTLY,
  ],
  look_alike: ['is the same but for characters that look alike, and which newText is to have does not follow', EXACTLY],
};

/** The text was found, and what the new one means there was not. */
export function unclear(file: Lines, line: number, oldText: string, path: string, match: keyof typeof UNCLEAR): Error {
  const shown = numbered(file, line, line + oldText.trimEnd().split('\n').length);
  const [why, advice] = UNCLEAR[match];
  return new Error(`Line ${line + 1} of ${path} ${why}. ${UNCHANGED}: ${advice}.\n${shown}`);
}

/** The text is not in the file. What looks most like it is shown, and not touched. */
export async function notFound(file: Lines, oldText: string, path: string): Promise<Error> {
  const message = `oldText does not occur in ${path}. ${UNCHANGED}`;
  const wanted = oldText.split('\n', 2_000).map(seen);
  while (wanted.length > 1 && wanted[0] === '') wanted.shift();
  while (wanted.length > 1 && wanted.at(-1) === '') wanted.pop();
  const near = await nearest(file, wanted);
  if (near === null) return new Error(`${message}: read the file again, it may have changed.`);
  const differs = wanted.findIndex((line, at) => seen(file.line(near + at)) !== line);
  const from = Math.max(near, near + differs - SHOWN_LINES / 2);
  const shown = numbered(file, from, near + wanted.length);
  const where = differs < 0 ? `begins at line ${near + 1}, and differs further on` : `differs from line ${near + differs + 1} on`; // prettier-ignore
  return new Error(`${message}: the nearest place ${where}.\n${shown}`);
}

/**
 * The line from which on most lines of the file are lines of the text, or have words of it, at their lines in the text or
 * nearly there. Null when no word is the same. Looks at each line once.
 */
async function nearest(file: Lines, wanted: string[]): Promise<number | null> {
  const lineOf = new Map<string, number>();
  for (const [at, line] of wanted.entries()) if (line !== '' && !lineOf.has(line)) lineOf.set(line, at);
  const words = new Set(wanted.flatMap(wordsOf));
  const whole = new Map<number, number>();
  let close = { line: 0, score: 0 };
  for (let at = 0; at < file.count; at++) {
    if (at % 2_000 === 1_999) await setImmediate();
    const line = seen(file.line(at));
    const first = lineOf.get(line);
    // Brackets alone say little.
    if (first !== undefined) whole.set(at - first, (whole.get(at - first) ?? 0) + Math.min(line.length, 40));
    const own = wordsOf(line);
    const score = own.filter((word) => words.has(word)).length / Math.sqrt(own.length + 1);
    if (score > close.score) close = { line: at, score };
  }
  let best = { line: -1, score: 3 };
  for (const [line, score] of whole) if (line >= 0 && score > best.score) best = { line, score };
  if (best.line >= 0) return best.line;
  if (close.score === 0) return null;
  const there = new Set(wordsOf(seen(file.line(close.line))));
  const likest = wanted.map((line) => wordsOf(line).filter((word) => there.has(word)).length);
  return Math.max(0, close.line - likest.indexOf(Math.max(...likest)));
}

/** What of a line is compared. */
function seen(line: string): string {
  return plain(line.slice(0, 2_000)).trim();
}

function wordsOf(line: string): string[] {
  return line.match(/\w{2,}/g)?.slice(0, 50) ?? [];
}

/** Lines of the file as `read` shows them, at most twelve. */
function numbered(file: Lines, from: number, to: number): string {
  const lines: string[] = [];
  for (let line = from; line < Math.min(to, from + SHOWN_LINES, file.count); line++) {
    const text = file.line(line).replace(/\r$/, '');
    const cut =
      text.length > SHOWN_LENGTH
        ? `${text.slice(0, SHOWN_LENGTH)} [… ${text.length - SHOWN_LENGTH} characters left out]`
        : text;
    lines.push(`${String(line + 1).padStart(6)}\t${cut}`);
  }
  return lines.join('\n');
}
