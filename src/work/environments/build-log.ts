import { StringDecoder } from 'node:string_decoder';

/** Bytes of the end of the output that are kept (reference §25). */
export const LOG_BYTES = 16 * 1024;

/** The end of what the commands of a build write, both streams as they come. */
export class BuildLog {
  private readonly decoders = [new StringDecoder(), new StringDecoder()] as const;
  private kept = '';
  private left = false;
  /** Whether something has come since the last {@link text}. */
  fresh = false;

  /** A line of the service's own. */
  say(line: string): void {
    this.keep(this.kept === '' || this.kept.endsWith('\n') ? `${line}\n` : `\n${line}\n`);
  }

  /** Of a stream: 0 is standard output, 1 standard error. */
  readonly add = (stream: 0 | 1, chunk: Buffer): void => this.keep(this.decoders[stream].write(chunk));

  /** At most {@link LOG_BYTES}. It begins with a whole line where that is possible. PostgreSQL's text holds no NUL. */
  get text(): string {
    this.fresh = false;
    return this.left ? this.kept.slice(this.kept.indexOf('\n') + 1) : this.kept;
  }

  private keep(text: string): void {
    if (text === '') return;
    this.fresh = true;
    const bytes = Buffer.from((this.kept + text).replaceAll('\0', '').toWellFormed());
    this.left ||= bytes.length > LOG_BYTES;
    let from = Math.max(0, bytes.length - LOG_BYTES);
    // Not in the middle of a character.
    while (from > 0 && from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
    this.kept = bytes.subarray(from).toString();
  }
}
