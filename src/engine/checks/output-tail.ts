import { createHash } from 'node:crypto';

/** Bytes of the end that are kept. */
const KEPT = 64 * 1024;

/** What a check writes: counted and hashed as a whole, and its end kept. */
export class OutputTail {
  private readonly hash = createHash('sha256');
  private kept: Buffer[] = [];
  private keptBytes = 0;
  private bytes = 0;

  readonly add = (_stream: 0 | 1, chunk: Buffer): void => {
    this.hash.update(chunk);
    this.bytes += chunk.length;
    this.kept.push(chunk);
    this.keptBytes += chunk.length;
    if (this.keptBytes > 4 * KEPT) this.shorten();
  };

  /** Once, at the end. A text has no NUL: PostgreSQL takes none. */
  end(): { output: string; outputBytes: number; outputSha256: string } {
    this.shorten();
    const output = Buffer.concat(this.kept).toString().replaceAll('\0', '\uFFFD');
    return { output, outputBytes: this.bytes, outputSha256: this.hash.digest('hex') };
  }

  private shorten(): void {
    const last = Buffer.concat(this.kept).subarray(-KEPT);
    this.kept = [last];
    this.keptBytes = last.length;
  }
}
