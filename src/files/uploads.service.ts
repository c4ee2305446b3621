import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { v7 as uuid } from 'uuid';
import type { AuthContext } from '../auth/auth-context.js';
import { Env } from '../config/env.js';
import { ApiError } from '../http/api-error.js';
import { cleanName } from './file-name.js';
import type { UploadRow } from './file.row.js';
import { type FilePart, readFilePart } from './multipart.js';
import { LocalStorage } from './storage/local-storage.js';

/** Bytes that a form may have around its file, for refusing by the announced length alone. */
const FORM = 1024 * 1024;

const INSERT = `
INSERT INTO uploads (id, workspace_id, user_id, name, media_type, size, sha256, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, now() + interval '24 hours')
RETURNING id, name, media_type AS "mediaType", size::float8 AS size, expires_at AS "expiresAt"`;

@Injectable()
export class UploadsService {
  constructor(
    private readonly storage: LocalStorage,
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly env: Env,
  ) {}

  /**
   * Takes in a form with one file. The bytes go to storage first, outside of any transaction; the row comes last, so that
   * an upload that anybody can name is whole. Throws as {@link readFilePart} and {@link LocalStorage.put} do.
   */
  async receive(auth: AuthContext, request: IncomingMessage): Promise<UploadRow> {
    const maxBytes = this.env.variables.MAX_UPLOAD_BYTES;
    if (Number(request.headers['content-length'] ?? 0) > maxBytes + FORM) {
      throw new ApiError('too_large', `A file may have at most ${maxBytes} bytes.`);
    }
    const { name, mediaType, size, sha256 } = await readFilePart(request, async (part: FilePart) => {
      const { declaredType } = part;
      const stored = await this.storage.put(auth.workspaceId, part.content, { maxBytes, declaredType });
      return { ...stored, name: cleanName(part.name) };
    });
    const values = [uuid(), auth.workspaceId, auth.userId, name, mediaType, size, sha256];
    const [row] = await this.dataSource.query<UploadRow[]>(INSERT, values);
    if (row === undefined) throw new Error('An insert returned no row.');
    return row;
  }
}
