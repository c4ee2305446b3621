/** What models copy from a listing: `    12\ttext` of `read` and `cat -n`, and `12→text`, `12|text`, `12: text`. */
const FORMATS = [/^\s*(\d{1,7})\t/, /^\s*(\d{1,7})→/, /^\s*(\d{1,7}) ?\|/, /^\s*(\d{1,7}):/];
/** As `read` writes it. */
const LISTED = /^(?=.{6}\t) *\d+\t/;
/** The number of an empty line, whose tab was trimmed. */
const ALONE = /^\s*(\d{1,7})$/;

/** An edit whose texts were copied from a listing, without the numbers. */
export interface Unnumbered {
  oldText: string;
  newText: string;
  /** The line that the listing says, from 1, where only that tells a number from a text: `8080: web`. */
  line: number | null;
}

/** Null when not every line begins with a number, or they do not count up. */
export function withoutNumbers(oldText: string, newText: string): Unnumbered | null {
  for (const format of FORMATS) {
    const old = stripped(oldText, format);
    if (old === null || old.some(({ number }, at) => number !== (old[0]?.number ?? 0) + at)) continue;
    const colon = format === FORMATS[3];
    const renewed = stripped(newText, format);
    if (renewed === null && colon && newText.split('\n').some((line) => format.test(line))) return null;
    return {
      oldText: joined(oldText, old),
      newText: renewed === null ? newText.split('\n').map((line) => line.replace(format, '')).join('\n') : joined(newText, renewed), // prettier-ignore
      line: colon ? (old[0]?.number ?? null) : null,
    };
  }
  return null;
}

/** Whether a text has the numbers of `read` before all of its lines: they would come into the file. */
export function isNumbered(text: string): boolean {
  if (!/^\s*\d+\t/.test(text)) return false;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0 || !lines.every((line) => LISTED.test(line))) return false;
  return lines.every((line, at) => at === 0 || parseInt(line) > parseInt(lines[at - 1] ?? ''));
}

interface Line {
  number: number;
  text: string;
}

/** The lines, but for an empty last one, with what stands behind their numbers. */
function stripped(text: string, format: RegExp): Line[] | null {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const result: Line[] = [];
  for (const line of lines) {
    const [before, number] = format.exec(line) ?? ALONE.exec(line) ?? [];
    if (before === undefined || number === undefined) return null;
    result.push({ number: Number(number), text: line.slice(before.length) });
  }
  return result.length === 0 || result.every((line) => line.text.trim() === '') ? null : result;
}

function joined(text: string, lines: Line[]): string {
  return lines.map((line) => line.text).join('\n') + (text.endsWith('\n') ? '\n' : '');
}
