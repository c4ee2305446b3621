import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { recordStream } from '../../access/audit/sender.js';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { USER, WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { newId } from '../../platform/database/ids.js';
import { bigint, sql, text, uuid } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import { uploadName } from './file-name.js';
import { type FilePart, readFilePart } from './multipart.js';
import { type Room, StorageQuota } from './storage-quota.js';
import { room } from './storage-quota.sql.js';
import { FileStorage, type PutFile } from './storage/file-storage.js';
import { Upload } from './upload.entity.js';

/** Bytes that a form may have around its file, for refusing by the announced length alone. */
const FORM = 1024 * 1024;

const UPLOAD = columns(Upload, 'u', ['id', 'name', 'mediaType', 'size', 'expiresAt']);
export type UploadRow = typeof UPLOAD.row;

const SIZE = bigint('size');
/** No row when the bytes do not fit. */
const INSERT = sql`
WITH ${room(WORKSPACE, SIZE)}
INSERT INTO uploads AS u (id, workspace_id, user_id, name, media_type, size, sha256, expires_at)
SELECT ${uuid('id')}, ${WORKSPACE}, ${USER}, ${text('name')}, ${text('mediaType')}, ${SIZE}, ${text('sha256')},
  now() + interval '24 hours'
FROM room
RETURNING ${UPLOAD}`.rows<UploadRow>();

/** Takes in the file of a form: as an upload, or as what the caller makes of it. */
@Injectable()
export class UploadsService {
  constructor(
    private readonly storage: FileStorage,
    private readonly quota: StorageQuota,
    private readonly transactions: Transactions,
  ) {}

  /** The row comes last, so that an upload that anybody can name is whole. Throws as {@link receive} does. */
  async create(auth: AuthContext, request: Request): Promise<UploadRow> {
    return this.receive(auth, request, async (stored) => {
      const { limits } = this.quota;
      const row = await this.transactions.open(async (tx) => {
        const [made] = await tx.run(INSERT({ auth, limits, id: newId(), ...stored }));
        if (made !== undefined) await recordStream(tx, request, 'upload.create', { type: 'upload', id: made.id });
        return made;
      });
      if (row === undefined) throw await this.quota.refusal(auth.workspaceId, stored.size);
      return row;
    });
  }

  /**
   * Reads a form with one file and stores its bytes, outside of any transaction; then `keep` writes the row that points at them.
   * Throws as {@link readFilePart} and {@link FileStorage.put} do, and `storage_exhausted` for what does not fit.
   * @param own a limit that is narrower than that of all files.
   */
  async receive<T>(
    { workspace }: AuthContext,
    request: IncomingMessage,
    keep: (stored: PutFile & { name: string; sentAs: string | null }) => Promise<T>,
    own: Room = this.quota.most,
  ): Promise<T> {
    const length = request.headers['content-length'];
    const [size, what] = length === undefined ? [null, null] : [Number(length), `an upload of ${length} bytes`];
    const kept = await this.quota.room(workspace.id, workspace.plan, size, what);
    try {
      const narrow = own.maxBytes < kept.maxBytes ? own : kept;
      const stored = await this.read(request, narrow, async ({ content, declaredType, name }) => {
        const named = { name: uploadName(name), sentAs: name };
        const { maxBytes, tooLong } = narrow;
        return { ...(await this.storage.put(workspace.id, content, { maxBytes, tooLong, declaredType })), ...named };
      });
      return await keep(stored);
    } finally {
      kept.release();
    }
  }

  /** Reads a form that is to be refused for another reason, keeping nothing. Throws what {@link receive} would. */
  async discard(request: IncomingMessage): Promise<void> {
    const { most } = this.quota;
    await this.read(request, most, async ({ content, name }) => {
      uploadName(name);
      let left = most.maxBytes;
      const nowhere = new Writable({
        write: (chunk: Buffer, _encoding, done) => done((left -= chunk.length) < 0 ? most.tooLong : null),
      });
      await pipeline(content, nowhere);
    });
  }

  private async read<T>(request: IncomingMessage, given: Room, take: (part: FilePart) => Promise<T>): Promise<T> {
    const length = Number(request.headers['content-length'] ?? 0);
    for (const { maxBytes, tooLong } of [this.quota.most, given]) if (length > maxBytes + FORM) throw tooLong;
    return readFilePart(request, take);
  }
}
