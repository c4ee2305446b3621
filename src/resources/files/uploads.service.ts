import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { recordStream } from '../../access/audit/sender.js';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { USER, WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { newId } from '../../platform/database/ids.js';
import { bigint, sql, text, uuid } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import { FileIntake } from './file-intake.js';
import { StorageQuota } from './storage-quota.js';
import { room } from './storage-quota.sql.js';
import { Upload } from './upload.entity.js';

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

@Injectable()
export class UploadsService {
  constructor(
    private readonly intake: FileIntake,
    private readonly transactions: Transactions,
    private readonly quota: StorageQuota,
  ) {}

  /**
   * Takes in a form with one file. The bytes go to storage first, outside of any transaction; the row comes last, so that
   * an upload that anybody can name is whole. Throws as {@link FileIntake.receive} does.
   */
  async receive(auth: AuthContext, request: Request): Promise<UploadRow> {
    return this.intake.receive(auth, request, async (stored) => {
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
}
