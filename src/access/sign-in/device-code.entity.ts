import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { CreatedAt, Timestamp } from '../../platform/database/columns.js';
import { ApiKey } from '../auth/api-key.entity.js';

/** A command that waits to be let in (reference §31). It is deleted when it gets its key. Both hashes are HMACs of what is sent. */
@Entity('device_codes')
@Unique(['userHash'])
@Index('device_codes_expiry', ['expiresAt'])
@Index('device_codes_key', ['keyId'])
export class DeviceCode {
  /** Of the code that the command keeps. */
  @PrimaryColumn('bytea') hash: Buffer;
  /** Of the code that a person types. */
  @Column('bytea') userHash: Buffer;
  /** From where the command has asked. */
  @Column('text', { nullable: true }) address: string | null;
  @CreatedAt() createdAt: Date;
  @Timestamp() expiresAt: Date;
  /** How long it has to wait between two questions. */
  @Column('int') intervalSeconds: number;
  @Timestamp({ nullable: true }) askedAt: Date | null;
  @Column('boolean', { default: false }) denied: boolean;
  /** The key of the person who has approved it; null until then. With the key its approval ends. */
  @ForeignKey(() => ApiKey, { onDelete: 'CASCADE' })
  @Column('uuid', { nullable: true })
  keyId: string | null;
}
