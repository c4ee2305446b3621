// Lines of output as a model reads them: what a terminal would leave of them, and shortened to what fits.

/** A line as the model reads it, without its end; or how many bytes are left out at this point; null: the line is left out. */
export type Line = string | { left: number } | null;

/** The rest of a truncated line is left out too when it has fewer characters, so that text is left out by whole lines. */
const REST_OF_LINE = 1_000;

// Control characters are what is looked for here.
/* eslint-disable no-control-regex */
/** Colours, the cursor, titles and links (ECMA-48). An unfinished sequence at the end of a truncated text goes too. */
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)/g;
const RETURNS = /\r{2,}/g;
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f]/g;
const SUSPICIOUS = /[\0-\x08\x0b-\x1f\x7f]/;
/* eslint-enable no-control-regex */

/** What a terminal would show in the end: no colours, and of what was written over only the last. It has as many lines. */
export function terminalText(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  // Many returns in a row are one: a list with an item for each would take twenty times as long.
  return text
    .replace(ESCAPES, '')
    .replace(RETURNS, '\r')
    .split('\n')
    .map((line) => (SUSPICIOUS.test(line) ? writtenOver(line).replace(CONTROLS, '') : line))
    .join('\n');
}

function writtenOver(line: string): string {
  const last = lastVisible(line);
  if (!last.includes('\b')) return last;
  const visible: string[] = [];
  for (const character of last) {
    if (character === '\b') visible.pop();
    else visible.push(character);
  }
  return visible.join('');
}

/** From the end, and not all of them first: what is written over is most of it. */
function lastVisible(line: string): string {
  for (let end = line.length; end >= 0;) {
    const begin = end === 0 ? 0 : line.lastIndexOf('\r', end - 1) + 1;
    const text = line.slice(begin, end);
    if (text.trim() !== '') return text;
    end = begin - 1;
  }
  return '';
}

/** Lines as they are. */
export function asLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Lines of a command's output. `gap`: the one that says how many bytes were left out there. The number of lines stays the same. */
export function outputLines(text: string, gap: number | null): Line[] {
  const lines: Line[] = asLines(terminalText(text));
  const marker = gap === null ? null : lines[gap];
  if (gap === null || typeof marker !== 'string') return lines;
  let left = Number(/\d+/.exec(marker)?.[0] ?? 0);
  const [before, after] = [lines[gap - 1], lines[gap + 1]];
  // Its end is that of the marker's beginning, not of the output.
  if (typeof before === 'string' && before.length < REST_OF_LINE) {
    left += Buffer.byteLength(before);
    lines[gap - 1] = null;
  }
  if (typeof after === 'string' && after.length < REST_OF_LINE) {
    left += Buffer.byteLength(after) + 1;
    lines[gap + 1] = null;
  }
  lines[gap] = { left };
  return lines;
}

/** Where the whole of a result lies in the sandbox, by its number in the task. */
export function outputFile(number: number): string {
  return `/tmp/output/${number}.txt`;
}

/** How much of a text the model reads: so many characters. `file`: the number of the file that has all of it. */
export interface TextLimit {
  max: number;
  file?: number | undefined;
}

type ReadLine = Exclude<Line, null>;
const textOf = (line: ReadLine, file: number | undefined) =>
  typeof line === 'string' ? line : leftOut(line.left, file);

function leftOut(bytes: number, file: number | undefined): string {
  if (file === undefined) return `[… ${bytes} bytes left out …]`;
  return `[… ${bytes.toLocaleString('en-US')} bytes left out; the whole is in ${outputFile(file)}]`;
}

/** Whether {@link truncateLines} leaves something out, or something is left out of them already. */
export function isTruncated(lines: Line[], max: number): boolean {
  let length = 0;
  for (const line of lines) {
    if (typeof line === 'string') length += line.length + 1;
    else if (line !== null) return true;
  }
  return length > max + 1;
}

/**
 * The lines as one text of at most so many characters: a third of it the beginning, two thirds the end, both of whole lines, and
 * between them how many bytes are left out.
 */
export function truncateLines(given: Line[], { max, file }: TextLimit): string {
  const lines = given.filter((line) => line !== null);
  const length = lines.reduce((sum, line) => sum + textOf(line, file).length + 1, 0);
  if (length <= max + 1) return lines.map((line) => textOf(line, file)).join('\n');
  const third = Math.floor(max / 3);
  const head = fitting(lines, { max: third, file }, beginning);
  const rest = lines.slice(head.whole);
  const tail = fitting(rest.toReversed(), { max: max - third, file }, end);
  const left = bytesOf(rest.slice(0, rest.length - tail.whole)) - head.partly - tail.partly;
  // The end of the last line is none that is left out.
  const between = leftOut(tail.whole === 0 ? left - 1 : left, file);
  return [...head.texts, between, ...tail.texts.toReversed()].join('\n');
}

function bytesOf(lines: ReadLine[]): number {
  const texts = lines.filter((line) => typeof line === 'string');
  const left = lines.reduce((sum, line) => sum + (typeof line === 'string' ? 0 : line.left), 0);
  return left + Buffer.byteLength(texts.join('\n')) + (texts.length > 0 ? 1 : 0);
}

/** As many lines as have room. One that is longer than what is left, when that is much, is truncated. */
function fitting(lines: ReadLine[], { max: room, file }: TextLimit, part: (text: string, length: number) => string) {
  const texts: string[] = [];
  let left = room;
  for (const line of lines) {
    const text = textOf(line, file);
    if (text.length + 1 > left) break;
    texts.push(text);
    left -= text.length + 1;
  }
  const whole = texts.length;
  const next = lines[whole];
  if (typeof next !== 'string' || left <= room / 2) return { texts, whole, partly: 0 };
  const truncated = part(next, left);
  texts.push(truncated);
  return { texts, whole, partly: Buffer.byteLength(truncated) };
}

// Neither splits a character.
const beginning = (text: string, length: number) => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
const end = (text: string, length: number) => text.slice(-length).replace(/^[\udc00-\udfff]/, '');
