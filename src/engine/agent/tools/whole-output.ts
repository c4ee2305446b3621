import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { terminalText } from '../../models/result-lines.js';

/** Characters of a line that is not over: of a longer one it is not known any more what was written over. */
const LINE = 64 * 1024;
/** Bytes that wait for the disk before no more is read of the command. */
const WAITING = 256 * 1024;

type Keep = (content: Readable) => Promise<number | null>;

/**
 * Both streams of a command as one text, line by line as they are ended, in the form in which a model reads them. When it has become
 * longer than what a model reads, it goes on into a file, so that memory never holds the whole: the command waits when it writes faster
 * than the disk does. Until then the bytes stay as they are.
 */
export class WholeOutput {
  /** Null once there are more bytes than characters that a model reads. */
  private raw: [0 | 1, Buffer][] | null = [];
  private bytes = 0;
  private texts: string[] = [];
  private length = 0;
  private readonly decoders = [new StringDecoder('utf8'), new StringDecoder('utf8')] as const;
  private readonly rests = ['', ''];
  private file: { content: Readable; number: Promise<number | null> } | null = null;
  /** Settled when the disk has what waits for it; null: there is room for more. */
  private waiting: { written: Promise<void>; settle: () => void } | null = null;

  constructor(
    private readonly characters: number,
    private readonly keep: Keep,
  ) {}

  /** A promise when the next chunk has to wait for it; it never rejects. */
  add(stream: 0 | 1, chunk: Buffer): Promise<void> | undefined {
    this.bytes += chunk.length;
    const chunks = this.raw ?? [];
    chunks.push([stream, chunk]);
    if (this.bytes <= this.characters) return undefined;
    this.raw = null;
    for (const [from, bytes] of chunks) this.addText(from, this.decoders[from].write(bytes));
    return this.waiting?.written;
  }

  /** Whether nothing of it is lost so far. */
  get isKept(): boolean {
    return this.file === null || !this.file.content.destroyed;
  }

  /**
   * The number of the file that has the whole; null when there is none. `isTruncated`: whether the model reads only a part, also of a text that
   * is short enough: much that was written over is in no record.
   */
  async end(isTruncated: () => boolean): Promise<number | null> {
    if (this.raw !== null || !isTruncated()) {
      this.destroy();
      return null;
    }
    for (const stream of [0, 1] as const) {
      const rest = terminalText(this.rests[stream] + this.decoders[stream].end());
      if (rest !== '') this.push(`${rest}\n`);
    }
    const { content, number } = this.file ?? this.open();
    content.push(null);
    return number;
  }

  /** Nobody wants it any more. */
  destroy(): void {
    this.file?.content.destroy();
  }

  private addText(stream: 0 | 1, text: string): void {
    const end = text.lastIndexOf('\n') + 1;
    const rest = this.rests[stream] ?? '';
    if (end > 0) this.push(terminalText(rest + text.slice(0, end)));
    const open = end > 0 ? text.slice(end) : rest + text;
    if (open.length > LINE) this.push(terminalText(open));
    this.rests[stream] = open.length > LINE ? '' : open;
  }

  private push(text: string): void {
    this.length += text.length;
    if (this.file === null) this.texts.push(text);
    else this.write(this.file.content, text);
    if (this.file === null && this.length > this.characters + 1) this.open();
  }

  private write(content: Readable, text: string): void {
    if (content.push(text) || content.destroyed || this.waiting !== null) return;
    let settle = () => {};
    const written = new Promise<void>((resolve) => (settle = resolve));
    this.waiting = { written, settle };
  }

  private readonly goOn = (): void => {
    this.waiting?.settle();
    this.waiting = null;
  };

  private open() {
    const content = new Readable({ highWaterMark: WAITING, read: this.goOn });
    content.once('close', this.goOn);
    const number = this.keep(content).then((found) => {
      // Nobody would read what comes from here on, and it would stay in memory.
      if (found === null) content.destroy();
      return found;
    });
    for (const text of this.texts) this.write(content, text);
    this.texts = [];
    return (this.file = { content, number });
  }
}
