import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Timestamp } from '../../platform/database/columns.js';
import { ApiKey } from './api-key.entity.js';

/** A browser that is logged in with a key (reference §20). It ends with the key. */
@Entity('console_sessions')
@Index('console_sessions_key', ['keyId', 'expiresAt'])
export class ConsoleSession {
  /** HMAC-SHA256 of the id in the cookie under a pepper. */
  @PrimaryColumn('bytea') hash: Buffer;
  @ForeignKey(() => ApiKey, { onDelete: 'CASCADE' })
  @Column('uuid')
  keyId: string;
  @Timestamp() expiresAt: Date;
}
