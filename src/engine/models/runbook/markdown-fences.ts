// Finds the fenced code blocks of a CommonMark text (https://spec.commonmark.org/0.31.2/), in one pass, line by line, as the
// strategy in the specification's appendix does it. A library's parser was used before: it reads nested lists and quotes again
// and again, and 60 texts of 200,000 characters kept a worker's event loop for 30 seconds. Here such a text takes 30 ms.

import { type HtmlBlock, htmlOf } from './html-blocks.js';

export interface Fence {
  /** What stands behind the opening fence, without the white space around it. */
  info: string;
  /** Each line with its end; without the indentation of the fence. */
  content: string;
  /** Of the opening fence, from 1. */
  line: number;
}

/** Quotes and list items inside each other. What would stand deeper is prose: each line is held against all that are open. */
const MAX_NESTING = 32;

/** What is open: a quote, or a list item, whose lines are indented by so many columns. */
type Container = { kind: 'quote' } | { kind: 'item'; columns: number; empty: boolean };

/** The open block of the innermost container in which lines go on; other blocks end with their line, or mean nothing here. */
type Leaf =
  | { kind: 'paragraph' }
  | HtmlBlock
  | { kind: 'fence'; mark: string; columns: number; info: string; line: number; content: string[] };

/** The fences of a text in order. A fence that is not closed ends with what it stands in, or with the text. */
export function fencesOf(text: string): Fence[] {
  // A cheap look first: most messages have no fence.
  if (!text.includes('```') && !text.includes('~~~')) return [];
  const reader = new FenceReader();
  const ends = /\r\n?|\n/g;
  let from = 0;
  for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
    reader.add(text.slice(from, end.index));
    from = ends.lastIndex;
  }
  if (from < text.length) reader.add(text.slice(from));
  return reader.end();
}

class FenceReader {
  private readonly found: Fence[] = [];
  private readonly containers: Container[] = [];
  private leaf: Leaf | null = null;
  private lines = 0;

  add(text: string): void {
    this.lines++;
    const line = new Line(text);
    const matched = this.matched(line);
    const all = matched === this.containers.length;
    if (all && this.leaf !== null && this.goesOn(this.leaf, line)) return;
    this.start(line, matched);
  }

  end(): Fence[] {
    this.closeTo(0);
    return this.found;
  }

  /** How many of the open containers the line goes on with; it stands behind their marks then. */
  private matched(line: Line): number {
    for (const [index, container] of this.containers.entries()) {
      if (line.blank) return this.matchedByBlank(line, index);
      if (container.kind === 'quote') {
        if (!line.takeQuote()) return index;
      } else if (line.indent >= container.columns) {
        line.skipColumns(container.columns);
      } else return index;
    }
    return this.containers.length;
  }

  /** An empty line goes on with the items, but ends one whose first line is empty too. */
  private matchedByBlank(line: Line, from: number): number {
    let columns = 0;
    let matched = from;
    for (; matched < this.containers.length; matched++) {
      const container = this.containers[matched];
      if (container?.kind !== 'item' || container.empty) break;
      columns += container.columns;
    }
    line.skipColumns(Math.min(columns, line.indent));
    return matched;
  }

  /** Whether the line belongs to the open leaf, and is done with. A paragraph is asked later: other blocks may interrupt it. */
  private goesOn(leaf: Leaf, line: Line): boolean {
    if (leaf.kind === 'fence') {
      const closing = line.indent < 4 && /^(`{3,}|~{3,})[ \t]*$/.exec(line.rest)?.[1];
      if (typeof closing === 'string' && closing.startsWith(leaf.mark)) this.closeLeaf();
      else leaf.content.push(line.without(leaf.columns));
      return true;
    }
    if (leaf.kind === 'html') {
      if (leaf.end === null ? line.blank : leaf.end.test(line.rest)) this.closeLeaf();
      return true;
    }
    if (line.blank) this.closeLeaf();
    return line.blank;
  }

  /** Opens what begins on the line, inside of the first `matched` containers. */
  private start(line: Line, matched: number): void {
    let inside = matched;
    // A paragraph goes on without the marks of what it stands in, unless something else begins.
    const lazy = this.leaf?.kind === 'paragraph';
    let interrupts = lazy && matched === this.containers.length;
    const open = (container: Container) => {
      this.closeTo(inside);
      this.fill();
      this.containers.push(container);
      inside++;
      interrupts = false;
    };
    while (!line.blank && line.indent < 4 && inside < MAX_NESTING) {
      if (line.takeQuote()) open({ kind: 'quote' });
      else if (this.takeLeaf(line, inside, interrupts)) return;
      else {
        const item = line.takeItem(interrupts);
        if (item === null) break;
        open({ kind: 'item', ...item });
      }
    }
    if (inside >= MAX_NESTING && line.indent < 4 && this.takeLeaf(line, inside, interrupts)) return;
    if (this.leaf?.kind === 'paragraph' && !line.blank && inside === matched) return;
    this.closeTo(inside);
    if (line.blank) return;
    this.fill();
    // What is indented by four is code, on which nothing depends.
    if (line.indent < 4) this.leaf = { kind: 'paragraph' };
  }

  /** Takes a line that begins, or is, a block without blocks inside: fence, heading, rule, HTML. */
  private takeLeaf(line: Line, inside: number, interrupts: boolean): boolean {
    const lazy = this.leaf?.kind === 'paragraph';
    const leaf = this.leafOf(line, interrupts, lazy && inside <= this.containers.length);
    if (leaf === undefined) return false;
    this.closeTo(inside);
    this.fill();
    this.leaf = leaf;
    return true;
  }

  /** Undefined: none begins. Null: one that ends with its line. */
  private leafOf(line: Line, interrupts: boolean, lazy: boolean): Leaf | null | undefined {
    const { rest } = line;
    switch (rest[0]) {
      case '#':
        return /^#{1,6}([ \t]|$)/.test(rest) ? null : undefined;
      case '`':
      case '~': {
        const [, mark = '', info = ''] = /^(`{3,}(?=[^`]*$)|~{3,})(.*)$/s.exec(rest) ?? [];
        if (mark === '') return undefined;
        return { kind: 'fence', mark, columns: line.indent, info: info.trim(), line: this.lines, content: [] };
      }
      case '<':
        return htmlOf(rest, lazy);
      default:
        return (interrupts && /^(=+|-+)[ \t]*$/.test(rest)) || isRule(rest) ? null : undefined;
    }
  }

  /** The innermost container has something in it now. */
  private fill(): void {
    const last = this.containers.at(-1);
    if (last?.kind === 'item') last.empty = false;
  }

  private closeTo(inside: number): void {
    this.closeLeaf();
    this.containers.length = inside;
  }

  private closeLeaf(): void {
    const { leaf } = this;
    this.leaf = null;
    if (leaf?.kind !== 'fence') return;
    this.found.push({ info: leaf.info, line: leaf.line, content: leaf.content.map((one) => `${one}\n`).join('') });
  }
}

/** A line, from its left: how far it was taken, in characters and in columns, of which a tab has up to four. */
class Line {
  private at = 0;
  private column = 0;
  /** Columns of the tab at `at` that were taken already. */
  private taken = 0;
  private next = -1;
  private width = 0;

  constructor(private readonly text: string) {}

  /** Columns of white space that come next. */
  get indent(): number {
    this.look();
    return this.width;
  }

  get blank(): boolean {
    this.look();
    return this.next === this.text.length;
  }

  /** What stands behind the white space that comes next. */
  get rest(): string {
    this.look();
    return this.text.slice(this.next);
  }

  skipColumns(columns: number): void {
    if (columns === 0) return;
    const { text } = this;
    let left = columns;
    while (left > 0 && this.at < text.length) {
      const wide = text[this.at] === '\t' ? 4 - (this.column % 4) : 1;
      const step = Math.min(left, wide);
      this.column += step;
      left -= step;
      this.taken = step < wide ? this.taken + step : 0;
      if (step === wide) this.at++;
    }
    this.next = -1;
  }

  /** What is left, without white space of so many columns. */
  without(columns: number): string {
    this.skipColumns(Math.min(columns, this.indent));
    if (this.taken === 0) return this.text.slice(this.at);
    // A tab of which a part was taken is spaces.
    return ' '.repeat(4 - (this.column % 4)) + this.text.slice(this.at + 1);
  }

  /** Takes `>` and the space behind it. */
  takeQuote(): boolean {
    if (this.indent > 3 || this.text[this.next] !== '>') return false;
    this.skipColumns(this.width + 1);
    if (this.isSpace()) this.skipColumns(1);
    return true;
  }

  /** Takes the mark of a list item. One that interrupts a paragraph has a text, and number 1 if any. */
  takeItem(interrupts: boolean): { columns: number; empty: boolean } | null {
    this.look();
    const { width, next, text } = this;
    const [mark, number] = MARK.exec(text.slice(next, next + 11)) ?? [];
    if (mark === undefined) return null;
    const empty = isBlank(text, next + mark.length);
    if (interrupts && (empty || (number !== undefined && Number(number) !== 1))) return null;
    this.skipColumns(width + mark.length);
    const { indent } = this;
    const behind = empty || indent > 4 ? 1 : indent;
    if (this.isSpace()) this.skipColumns(behind);
    return { columns: width + mark.length + behind, empty };
  }

  private isSpace(): boolean {
    return this.text[this.at] === ' ' || this.text[this.at] === '\t';
  }

  private look(): void {
    if (this.next !== -1) return;
    const { text } = this;
    let { at, column } = this;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x20) column++;
      else if (code === 0x09) column += 4 - (column % 4);
      else break;
    }
    this.next = at;
    this.width = column - this.column;
  }
}

const MARK = /^(?:[*+-]|(\d{1,9})[.)])(?=[ \t]|$)/;

function isBlank(text: string, from: number): boolean {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at++;
  return at === text.length;
}

/** `* * *` and its like. */
function isRule(rest: string): boolean {
  const mark = rest[0];
  if (mark !== '*' && mark !== '-' && mark !== '_') return false;
  let count = 0;
  for (let at = 0; at < rest.length; at++) {
    if (rest[at] === mark) count++;
    else if (rest[at] !== ' ' && rest[at] !== '\t') return false;
  }
  return count >= 3;
}
