const KEPT = 64 * 1024;
const NEW_LINE = 10;

/** Bytes of a stream that are kept: so many of its beginning, so many of its end. */
export interface KeptBytes {
  first: number;
  last: number;
}

/** Keeps the beginning and the end of a stream, 64 KiB of each by default, in bounded memory however much comes. */
export class Output {
  private readonly first: Buffer[] = [];
  private last: Buffer[] = [];
  private firstBytes = 0;
  private lastBytes = 0;
  bytes = 0;

  constructor(private readonly kept: KeptBytes = { first: KEPT, last: KEPT }) {}

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    const head = chunk.subarray(0, this.kept.first - this.firstBytes);
    if (head.length > 0) {
      this.first.push(head);
      this.firstBytes += head.length;
    }
    const rest = chunk.subarray(head.length);
    if (rest.length === 0) return;
    this.last.push(rest);
    this.lastBytes += rest.length;
    // The chunks are joined now and then, not at each: memory stays below three times what is kept.
    if (this.lastBytes > 2 * this.kept.last || this.last.length > 256) this.trim();
  }

  get left(): number {
    return Math.max(0, this.bytes - this.kept.first - this.kept.last);
  }

  text(): string {
    this.trim();
    const parts = [...this.first];
    if (this.left > 0) parts.push(Buffer.from(`\n[… ${this.left} bytes left out …]\n`));
    return Buffer.concat([...parts, ...this.last])
      .toString('utf8')
      .replaceAll('\0', '');
  }

  /** The line of the text, from 0, that says how much was left out; null when nothing was. */
  get gap(): number | null {
    return this.left > 0 ? newLines(this.first) + 1 : null;
  }

  /**
   * How many lines of {@link text} have begun when so many bytes of the stream have come, for each of the offsets, which grow. A line
   * counts as a whole: its end may have come later.
   */
  linesAt(offsets: readonly number[]): number[] {
    this.trim();
    const { gap } = this;
    const kept = Buffer.concat([...this.first, ...this.last]);
    const lines: number[] = [];
    let ends = 0;
    let seen = 0;
    for (const offset of offsets) {
      const inside = Math.max(Math.min(offset, this.firstBytes), offset - this.left);
      for (let at = kept.indexOf(NEW_LINE, seen); at >= 0 && at < inside; at = kept.indexOf(NEW_LINE, seen)) {
        ends++;
        seen = at + 1;
      }
      const begun = inside > seen ? 1 : 0;
      // The line whose beginning is missing, and the line that says so.
      lines.push(ends + begun + (gap !== null && inside > this.firstBytes ? 2 : 0));
    }
    return lines;
  }

  private trim(): void {
    const joined = Buffer.concat(this.last);
    // A copy: a slice would keep the whole buffer.
    const kept = Buffer.from(joined.subarray(Math.max(0, joined.length - this.kept.last)));
    this.last = [kept];
    this.lastBytes = kept.length;
  }
}

function newLines(chunks: Buffer[]): number {
  let count = 0;
  for (const chunk of chunks) {
    for (let at = chunk.indexOf(NEW_LINE); at >= 0; at = chunk.indexOf(NEW_LINE, at + 1)) count++;
  }
  return count;
}
