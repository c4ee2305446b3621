import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { ApiError } from '../../platform/http/api-error.js';
import { uploadName } from './file-name.js';
import { type FilePart, readFilePart } from './multipart.js';
import { FileStorage, type PutFile } from './storage/file-storage.js';

/** Bytes that a form may have around its file, for refusing by the announced length alone. */
const FORM = 1024 * 1024;

/** Takes in the file of a form. */
@Injectable()
export class FileIntake {
  constructor(
    private readonly storage: FileStorage,
    private readonly env: Env,
  ) {}

  /**
   * Reads a form with one file and stores its bytes, outside of any transaction; the row that points at them comes after.
   * Throws as {@link readFilePart} and {@link FileStorage.put} do.
   */
  async receive(workspaceId: string, request: IncomingMessage): Promise<PutFile & { name: string }> {
    return this.read(request, async ({ content, declaredType, name }) => {
      const named = { name: uploadName(name) };
      const stored = await this.storage.put(workspaceId, content, { maxBytes: this.maxBytes, declaredType });
      return { ...stored, ...named };
    });
  }

  /** Reads a form that is to be refused for another reason, keeping nothing. Throws what {@link receive} would. */
  async discard(request: IncomingMessage): Promise<void> {
    await this.read(request, async ({ content, name }) => {
      uploadName(name);
      let left = this.maxBytes;
      const nowhere = new Writable({
        write: (chunk: Buffer, _encoding, done) => done((left -= chunk.length) < 0 ? this.tooLarge() : null),
      });
      await pipeline(content, nowhere);
    });
  }

  private get maxBytes(): number {
    return this.env.variables.MAX_UPLOAD_BYTES;
  }

  private async read<T>(request: IncomingMessage, take: (part: FilePart) => Promise<T>): Promise<T> {
    if (Number(request.headers['content-length'] ?? 0) > this.maxBytes + FORM) throw this.tooLarge();
    return readFilePart(request, take);
  }

  private tooLarge(): ApiError {
    return new ApiError('too_large', `A file may have at most ${this.maxBytes} bytes.`);
  }
}
