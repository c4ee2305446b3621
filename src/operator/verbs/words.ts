// How answers are printed for people: one record as lines, several as a table where the terminal is wide enough for one.

import { printable } from '../../platform/text/names.js';

const GAP = '  ';
const MARKS = /\p{M}/u;
/** What takes two columns of a terminal: East Asian scripts, full-width forms, emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** `name: value` lines. */
export function lines(record: object): string {
  return Object.entries(record)
    .map(([name, value]) => `${name}: ${said(value)}`)
    .join('\n');
}

/**
 * A table of records, one line each where they fit. Columns with several words are wrapped to fit `width`;
 * nothing is truncated, since half an id or an address is of no use.
 * @returns null when the narrowest table is wider than `width`.
 */
export function table(records: readonly object[], width: number): string | null {
  const values = records.map((record) => new Map<string, unknown>(Object.entries(record)));
  const names = [...new Set(values.flatMap((record) => [...record.keys()]))];
  const rows = [
    names.map((name) => name.replace(/[A-Z]/g, ' $&').toUpperCase()),
    ...values.map((record) => names.map((name) => brief(record.get(name)))),
  ];
  const widths = widthsOf(rows, width);
  return widths && rows.map((row) => lineOf(row, widths)).join('\n');
}

/** The columns' widths, the widest narrowed first, or null when it is too narrow for the longest words. */
function widthsOf(rows: readonly string[][], width: number): number[] | null {
  const columns = (rows[0] ?? []).map((_, index) => rows.map((row) => row[index] ?? ''));
  const widths = columns.map((column) => Math.max(...column.map(widthOf)));
  const least = columns.map((column) => Math.max(...column.flatMap((cell) => cell.split(' ').map(widthOf))));
  const total = () => widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length);
  while (total() > width) {
    const spare = widths.map((one, index) => (one > (least[index] ?? 0) ? one : 0));
    const widest = Math.max(...spare);
    if (widest === 0) return null;
    widths[spare.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function lineOf(row: readonly string[], widths: readonly number[]): string {
  const cells = row.map((cell, index) => wrap(cell, widths[index] ?? 0));
  const height = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((cell, index) => pad(cell[line] ?? '', widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  ).join('\n');
}

function wrap(text: string, width: number): string[] {
  const found: string[] = [];
  for (const word of text.split(' ')) {
    const last = found.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) found[found.length - 1] = `${last} ${word}`;
    else found.push(word);
  }
  return found;
}

const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** How many columns of a terminal a text takes. */
function widthOf(text: string): number {
  return Array.from(text).reduce((sum, one) => sum + (MARKS.test(one) ? 0 : WIDE.test(one) ? 2 : 1), 0);
}

/** In a table times are given to the minute, and lists can be wrapped. */
const brief = (value: unknown): string =>
  value instanceof Date ? `${value.toISOString().slice(0, 16)}Z`
  : Array.isArray(value) ? value.map(said).join(', ')
  : said(value); // prettier-ignore

/** A value in one line, without what a terminal would carry out: some of it was said by strangers. */
function said(value: unknown): string {
  const text =
    value instanceof Date ? value.toISOString()
    : Array.isArray(value) ? value.map(said).join(',')
    : typeof value === 'string' ? value
    : value === null || value === undefined ? '-'
    : JSON.stringify(value); // prettier-ignore
  return printable(text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' '));
}
