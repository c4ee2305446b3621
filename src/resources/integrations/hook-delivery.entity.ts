import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CreatedAt, Id } from '../../platform/database/columns.js';
import { Connection } from './connection.entity.js';

/** What a provider delivered (reference §13). The row keeps the delivery from having an effect twice. */
@Entity('hook_deliveries')
@Index('hook_deliveries_once', ['connectionId', 'dedupeKey'], { unique: true })
@Index('hook_deliveries_age', ['createdAt'])
export class HookDelivery {
  @Id() id: string;
  @ForeignKey(() => Connection, { onDelete: 'CASCADE' })
  @Column('uuid')
  connectionId: string;
  /** The provider's id of the delivery, or the SHA-256 of the body where the signature covers neither an id nor a time. */
  @Column('text') dedupeKey: string;
  /** With the provider's slug before it: `github.push`. */
  @Column('text') event: string;
  /** The body, until every run that needs it has its file. */
  @Column('bytea', { nullable: true }) payload: Buffer | null;
  @CreatedAt() createdAt: Date;
}
