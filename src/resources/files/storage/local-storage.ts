// Bytes of uploads and files on the local disk, addressed by their content; rows of the database point at them.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { DataDir } from '../../../platform/config/data-dir.js';
import { ApiError } from '../../../platform/http/api-error.js';
import { declared, sniff, SNIFFED_BYTES, typeByName, UNKNOWN_TYPE } from './media-type.js';

export interface PutOptions {
  /** More is refused with `too_large`. Bytes. */
  maxBytes?: number;
  /** Used when the bytes do not tell; ignored when it has not the form `type/subtype`. */
  declaredType?: string | null;
  /** The last resort for a type: its extension. */
  name?: string;
}

export interface StoredBytes {
  /** Hexadecimal. */
  sha256: string;
  /** Bytes. */
  size: number;
  mediaType: string;
}

/** First and last byte, both included. */
export interface ByteRange {
  start: number;
  end: number;
}

/** `DATA_DIR/files/<workspace>/<first two digits>/<sha256>`: equal bytes of one workspace are stored once. */
@Injectable()
export class LocalStorage {
  readonly root: string;
  /** Bytes that are still arriving. On the same file system, so that a rename ends it. */
  readonly incoming: string;

  constructor(dataDir: DataDir) {
    this.root = join(dataDir.path, 'files');
    this.incoming = join(this.root, 'incoming');
  }

  /**
   * Stores a stream, without ever holding it in memory. When it resolves the bytes are on the disk, safe from a power
   * cut; a row must point at them within the hour, or they are removed as left over. When it rejects (`too_large`, the
   * stream's own error, the disk's) nothing is left and the stream is destroyed.
   */
  async put(workspaceId: string, content: Readable, options: PutOptions = {}): Promise<StoredBytes> {
    // An error before the first read has no listener yet and would end the process; reading throws it again.
    content.on('error', () => undefined);
    const temporary = join(this.incoming, randomUUID());
    try {
      await mkdir(this.incoming, { recursive: true, mode: 0o700 });
      const { head, ...written } = await write(temporary, content, options.maxBytes ?? Infinity);
      const mediaType =
        (await sniff(head)) ?? declared(options.declaredType) ?? typeByName(options.name) ?? UNKNOWN_TYPE;
      await this.moveIntoPlace(temporary, this.pathOf(workspaceId, written.sha256));
      return { ...written, mediaType };
    } catch (error) {
      content.destroy();
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /**
   * Opens bytes for reading: all, or a range that lies inside. The caller reads the stream to its end or destroys it.
   * @returns the number of bytes that the stream gives, and the stream.
   */
  async open(workspaceId: string, sha256: string, range?: ByteRange): Promise<{ size: number; stream: Readable }> {
    const file = await open(this.pathOf(workspaceId, sha256));
    try {
      const size = range === undefined ? (await file.stat()).size : range.end - range.start + 1;
      return { size, stream: file.createReadStream(range ?? {}) };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Deletes everything of a workspace that is gone. */
  async removeAll(workspaceId: string): Promise<void> {
    await rm(join(this.root, workspaceId), { recursive: true, force: true });
  }

  pathOf(workspaceId: string, sha256: string): string {
    return join(this.root, workspaceId, sha256.slice(0, 2), sha256);
  }

  // Always a rename, also over equal bytes: the new modification time is what keeps the cleaner away from them.
  private async moveIntoPlace(temporary: string, path: string): Promise<void> {
    const folder = dirname(path);
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    await rename(temporary, path);
    await sync(folder);
    if (made === undefined) return;
    await sync(dirname(folder));
    await sync(this.root);
  }
}

async function write(path: string, content: Readable, maxBytes: number) {
  const file = await open(path, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    const head: Buffer[] = [];
    let size = 0;
    for await (const chunk of content as AsyncIterable<Buffer>) {
      if (size + chunk.length > maxBytes) throw new ApiError('too_large', `A file may have at most ${maxBytes} bytes.`);
      if (size < SNIFFED_BYTES) head.push(chunk.subarray(0, SNIFFED_BYTES - size));
      size += chunk.length;
      hash.update(chunk);
      await file.appendFile(chunk);
    }
    await file.sync();
    return { head: Buffer.concat(head), sha256: hash.digest('hex'), size };
  } finally {
    await file.close();
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
