import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenedFile } from '../sandbox/sandbox.js';

/** Bytes of the end that a result has. */
const KEPT = 64 * 1024;

/**
 * What a check writes: counted and hashed as a whole, and its end kept. What is longer than that end goes to the disk too, outside of every
 * sandbox, into a file without a name: it is gone with the process, however that ends.
 */
export class CheckOutput {
  private readonly hash = createHash('sha256');
  private kept: Buffer[] = [];
  private keptBytes = 0;
  private bytes = 0;
  private file: FileHandle | null = null;
  /** There is none any more, and none is begun again: it would have a part of the output. */
  private discarded = false;
  private writing: Promise<void> = Promise.resolve();

  /** @param folder for the file. @param most bytes that the file may have; of a longer output there is none. */
  constructor(
    private readonly folder: string,
    private readonly most: number,
  ) {}

  /** Resolves when more may come. Never rejects. */
  readonly add = (chunk: Buffer): Promise<void> | void => {
    this.hash.update(chunk);
    this.bytes += chunk.length;
    const before = this.bytes - chunk.length;
    const all = before <= KEPT && this.bytes > KEPT ? Buffer.concat([...this.kept, chunk]) : chunk;
    this.kept.push(chunk);
    this.keptBytes += chunk.length;
    if (this.keptBytes > 4 * KEPT) this.shorten();
    if (this.bytes <= KEPT || before > this.most) return undefined;
    this.writing = this.writing.then(() => this.write(all)).catch(() => this.discard());
    return this.writing;
  };

  /** Once, at the end. A text has no NUL: PostgreSQL takes none. The caller closes `whole`; null: the end is all, or there is no file. */
  async end(): Promise<{ output: string; outputBytes: number; outputSha256: string; whole: OpenedFile | null }> {
    this.shorten();
    const output = Buffer.concat(this.kept).toString().replaceAll('\0', '\uFFFD');
    await this.writing;
    const whole = this.file === null ? null : { size: this.bytes, content: this.file.createReadStream({ start: 0 }) };
    return { output, outputBytes: this.bytes, outputSha256: this.hash.digest('hex'), whole };
  }

  /** Nobody reads the file: the output is too long, the disk is full, or the check is given up. */
  async discard(): Promise<void> {
    const { file } = this;
    this.file = null;
    this.discarded = true;
    await file?.close().catch(() => undefined);
  }

  private async write(chunk: Buffer): Promise<void> {
    if (this.discarded) return;
    if (this.bytes > this.most) return this.discard();
    const file = (this.file ??= await this.open());
    // Meanwhile.
    if (this.discarded) return this.discard();
    await file.appendFile(chunk);
  }

  private async open(): Promise<FileHandle> {
    const path = join(this.folder, `check-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    await rm(path);
    return file;
  }

  private shorten(): void {
    const last = Buffer.concat(this.kept).subarray(-KEPT);
    this.kept = [last];
    this.keptBytes = last.length;
  }
}
