import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { CreatedAt, Id } from '../../platform/database/columns.js';
import { Connection } from './connection.entity.js';

/** What became of a delivery (reference §13). The last three are faults: the connection's state is `error` until another verdict. */
export const VERDICTS = [
  'accepted',
  'no_automation',
  'duplicate',
  'handshake',
  'bad_signature',
  'malformed',
  'unreadable_secret',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** An entry in the log of a connection (reference §13). One with a key keeps its delivery from having an effect twice. */
@Entity('hook_deliveries')
@Index('hook_deliveries_once', ['connectionId', 'dedupeKey'], { unique: true })
@Index('hook_deliveries_log', ['connectionId', 'id'])
@Index('hook_deliveries_without_effect', ['connectionId', 'id'], { where: 'dedupe_key IS NULL' })
@Index('hook_deliveries_waiting', ['connectionId'], { where: 'payload IS NOT NULL' })
@Index('hook_deliveries_age', ['createdAt'])
@Check(
  'hook_deliveries_verdict_check',
  `verdict IN ('accepted', 'no_automation', 'duplicate', 'handshake', 'bad_signature', 'malformed', 'unreadable_secret')`,
)
export class HookDelivery {
  @Id() id: string;
  @ForeignKey(() => Connection, { onDelete: 'CASCADE' })
  @Column('uuid')
  connectionId: string;
  /**
   * The provider's id of the delivery, or the SHA-256 of the body where the signature covers neither an id nor a time. Null for
   * what had no effect.
   */
  @Column('text', { nullable: true }) dedupeKey: string | null;
  @Column('text', { default: 'accepted' }) verdict: Verdict;
  /** With the provider's slug before it: `github.push`. Null where nothing vouches for it. */
  @Column('text', { nullable: true }) event: string | null;
  /** The provider's own id of it, as people look it up there; null as {@link event} is, and where there is none. */
  @Column('text', { nullable: true }) deliveryId: string | null;
  /** The body, until every run that needs it has its file. */
  @Column('bytea', { nullable: true }) payload: Buffer | null;
  @CreatedAt() createdAt: Date;
}
