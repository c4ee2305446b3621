import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { uploadName } from './file-name.js';
import { type FilePart, readFilePart } from './multipart.js';
import { type Room, StorageQuota } from './storage-quota.js';
import { FileStorage, type PutFile } from './storage/file-storage.js';

/** Bytes that a form may have around its file, for refusing by the announced length alone. */
const FORM = 1024 * 1024;

/** Takes in the file of a form. */
@Injectable()
export class FileIntake {
  constructor(
    private readonly storage: FileStorage,
    private readonly quota: StorageQuota,
  ) {}

  /**
   * Reads a form with one file and stores its bytes, outside of any transaction; then `keep` writes the row that points at them.
   * Throws as {@link readFilePart} and {@link FileStorage.put} do, and `storage_exhausted` for what does not fit.
   */
  async receive<T>(
    { workspace }: AuthContext,
    request: IncomingMessage,
    keep: (stored: PutFile & { name: string }) => Promise<T>,
  ): Promise<T> {
    const length = request.headers['content-length'];
    const [size, what] = length === undefined ? [null, null] : [Number(length), `an upload of ${length} bytes`];
    const room = await this.quota.room(workspace.id, workspace.plan, size, what);
    try {
      const stored = await this.read(request, room, async ({ content, declaredType, name }) => {
        const named = { name: uploadName(name) };
        const { maxBytes, tooLong } = room;
        return { ...(await this.storage.put(workspace.id, content, { maxBytes, tooLong, declaredType })), ...named };
      });
      return await keep(stored);
    } finally {
      room.release();
    }
  }

  /** Reads a form that is to be refused for another reason, keeping nothing. Throws what {@link receive} would. */
  async discard(request: IncomingMessage): Promise<void> {
    const room = this.quota.most;
    await this.read(request, room, async ({ content, name }) => {
      uploadName(name);
      let left = room.maxBytes;
      const nowhere = new Writable({
        write: (chunk: Buffer, _encoding, done) => done((left -= chunk.length) < 0 ? room.tooLong : null),
      });
      await pipeline(content, nowhere);
    });
  }

  private async read<T>(request: IncomingMessage, room: Room, take: (part: FilePart) => Promise<T>): Promise<T> {
    const length = Number(request.headers['content-length'] ?? 0);
    for (const { maxBytes, tooLong } of [this.quota.most, room]) if (length > maxBytes + FORM) throw tooLong;
    return readFilePart(request, take);
  }
}
