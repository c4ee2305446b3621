import { StringDecoder } from 'node:string_decoder';

const LINE_LENGTH = 2_000;
/** Characters before a line: its number, and a tab. */
const NUMBER = 8;
/** For the sentence that says how to read on. */
const NOTE = 100;
const SNIFFED_BYTES = 8_192;

/** Reads some lines of a stream of bytes, whatever its size: at most one window of them is in memory. */
export class LineWindow {
  /** A NUL in the first bytes, as git and grep decide it. */
  binary = false;
  /** There are lines after the window. */
  more = false;
  /** Lines seen so far; all of the file when `more` is false. */
  total = 0;
  private readonly lines: string[] = [];
  private readonly decoder = new StringDecoder('utf8');
  private current = '';
  private leftOut = 0;
  private length = 0;
  private bytes = 0;

  constructor(
    private readonly offset: number,
    private readonly limit: number,
    /** Characters that its lines may have with their numbers. */
    private readonly characters: number,
  ) {}

  /** True when nothing more is needed. */
  add(chunk: Buffer): boolean {
    if (this.bytes < SNIFFED_BYTES && chunk.subarray(0, SNIFFED_BYTES - this.bytes).includes(0)) this.binary = true;
    this.bytes += chunk.length;
    return this.binary || this.addText(this.decoder.write(chunk));
  }

  /** The window. Call it after the last chunk. */
  finish(): string[] {
    if (!this.more && !this.addText(this.decoder.end()) && this.current !== '') this.endLine();
    return this.lines;
  }

  private addText(text: string): boolean {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.extend(text.slice(from, end));
      if (this.full()) return true;
      this.endLine();
      from = end + 1;
    }
    this.extend(text.slice(from));
    return this.current !== '' && this.full();
  }

  private extend(text: string): void {
    if (this.total + 1 < this.offset) {
      // One character is enough to know that the line is there.
      this.current ||= text.slice(0, 1);
      return;
    }
    const room = Math.max(0, LINE_LENGTH - this.current.length);
    this.current += text.slice(0, room);
    this.leftOut += text.length - Math.min(room, text.length);
  }

  private full(): boolean {
    const full = this.length + this.current.length + NUMBER > this.characters - NOTE;
    this.more = this.lines.length >= this.limit || (this.lines.length > 0 && full);
    return this.more;
  }

  private endLine(): void {
    this.total++;
    if (this.total >= this.offset) {
      const line = this.current.endsWith('\r') ? this.current.slice(0, -1) : this.current;
      this.lines.push(this.leftOut > 0 ? `${line} [… ${this.leftOut} characters left out]` : line);
      this.length += line.length + NUMBER;
    }
    this.current = '';
    this.leftOut = 0;
  }
}
