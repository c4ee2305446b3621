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
  /** What the provider has said of the person, for its own sign-out: encrypted with the id in the cookie, which is nowhere else. */
  @Column('bytea', { nullable: true }) idToken: Buffer | null;
  /** Wrong codes of devices that were typed, since when (reference §31). */
  @Column('int', { default: 0 }) wrongCodes: number;
  @Timestamp({ nullable: true }) wrongSince: Date | null;
}
