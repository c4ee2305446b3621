import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Timestamp } from '../../platform/database/columns.js';
import { ApiKey } from './api-key.entity.js';

/** A code that logs in to the console once (reference §20). It is deleted by its use. */
@Entity('console_codes')
@Index('console_codes_key', ['keyId'])
export class ConsoleCode {
  /** HMAC-SHA256 of the code under a pepper. */
  @PrimaryColumn('bytea') hash: Buffer;
  @ForeignKey(() => ApiKey, { onDelete: 'CASCADE' })
  @Column('uuid')
  keyId: string;
  @Timestamp() expiresAt: Date;
}
