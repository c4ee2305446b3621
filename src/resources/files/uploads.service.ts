import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { newId } from '../../platform/database/ids.js';
import { FileIntake } from './file-intake.js';
import type { UploadRow } from './file.row.js';

const INSERT = `
INSERT INTO uploads (id, workspace_id, user_id, name, media_type, size, sha256, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, now() + interval '24 hours')
RETURNING id, name, media_type AS "mediaType", size::float8 AS size, expires_at AS "expiresAt"`;

@Injectable()
export class UploadsService {
  constructor(
    private readonly intake: FileIntake,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  /**
   * Takes in a form with one file. The bytes go to storage first, outside of any transaction; the row comes last, so that
   * an upload that anybody can name is whole. Throws as {@link FileIntake.receive} does.
   */
  async receive(auth: AuthContext, request: IncomingMessage): Promise<UploadRow> {
    const { name, mediaType, size, sha256 } = await this.intake.receive(auth.workspaceId, request);
    const values = [newId(), auth.workspaceId, auth.userId, name, mediaType, size, sha256];
    const [row] = await this.dataSource.query<UploadRow[]>(INSERT, values);
    if (row === undefined) throw new Error('An insert returned no row.');
    return row;
  }
}
