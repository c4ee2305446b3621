import { setImmediate } from 'node:timers/promises';

/** Characters, and lines, that are looked at before the event loop turns: some 10 ms. */
const SLICE = 100_000;
const LINES = 10_000;

/** What a stage sees of a text: each line in a form that leaves out what the stage does not mind. */
export interface Form {
  text: string;
  /** Where each line begins in `text`. */
  starts: number[];
}

/** A text by its lines, which end with `\n` or at the end. */
export class Lines {
  private constructor(
    readonly text: string,
    private readonly starts: number[],
  ) {}

  static async of(text: string): Promise<Lines> {
    const starts = [0];
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) {
      starts.push(end + 1);
      if (starts.length % LINES === 0) await setImmediate();
    }
    return new Lines(text, starts);
  }

  get count(): number {
    return this.starts.length;
  }

  /** Where a line begins; the end of the text after the last one. */
  start(line: number): number {
    return this.starts[line] ?? this.text.length;
  }

  /** A line without its `\n`. */
  line(line: number): string {
    return this.text.slice(this.start(line), this.start(line + 1) - (line < this.count - 1 ? 1 : 0));
  }

  /** The line of an offset, from 0. */
  at(offset: number): number {
    return lineAt(this.starts, offset);
  }

  /** How the line of an offset ends; the last one as the line before it. */
  lineEnd(offset: number): string {
    const line = Math.min(this.at(offset), this.count - 2);
    return this.text.charAt(this.start(line + 1) - 2) === '\r' ? '\r\n' : '\n';
  }

  /** The text with each line in another form. The end of the text counts as the end of a line. */
  async form(of: (line: string) => string): Promise<Form> {
    const starts: number[] = [];
    let text = '';
    let chunk: string[] = [];
    let length = 0;
    for (let line = 0; line < this.count; line++) {
      const formed = of(this.line(line));
      starts.push(length);
      length += formed.length + 1;
      chunk.push(formed, '\n');
      if (line % LINES !== LINES - 1) continue;
      text += chunk.join('');
      chunk = [];
      await setImmediate();
    }
    text += chunk.join('');
    // The line after the last line end is none.
    return this.text.endsWith('\n') ? { text: text.slice(0, -1), starts } : { text, starts };
  }
}

/** Of ascending beginnings the last one that is not after an offset. */
export function lineAt(starts: number[], offset: number): number {
  let from = 0;
  let to = starts.length - 1;
  while (from < to) {
    const middle = Math.ceil((from + to) / 2);
    if ((starts[middle] ?? 0) <= offset) from = middle;
    else to = middle - 1;
  }
  return from;
}

/**
 * Where `wanted` stands in `all`, without overlaps (Knuth, Morris, Pratt). `indexOf` multiplies the lengths for some texts,
 * and the permitted million by a million are an hour.
 */
export async function offsetsOf(all: string, wanted: string): Promise<number[]> {
  // For each length of a matched beginning: the longest shorter beginning that it ends with.
  const shorter = new Int32Array(wanted.length + 1);
  const grow = (matched: number, next: number): number => {
    while (matched > 0 && wanted.charCodeAt(matched) !== next) matched = shorter[matched] ?? 0;
    return wanted.charCodeAt(matched) === next ? matched + 1 : 0;
  };
  for (let at = 1, matched = 0; at < wanted.length; at++) {
    if (at % SLICE === 0) await setImmediate();
    matched = grow(matched, wanted.charCodeAt(at));
    shorter[at + 1] = matched;
  }
  const offsets: number[] = [];
  for (let at = 0, matched = 0; at < all.length; at++) {
    if (at % SLICE === 0) await setImmediate();
    matched = grow(matched, all.charCodeAt(at));
    if (matched < wanted.length) continue;
    offsets.push(at + 1 - matched);
    matched = 0;
  }
  return offsets;
}
