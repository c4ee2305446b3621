import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { Membership } from '../../access/workspaces/membership.entity.js';
import { Id, Timestamp } from '../../platform/database/columns.js';
import { Sealed } from '../../platform/database/sealed.js';
import { ownerOfNotices } from './notice-settings.entity.js';

/** What `PushManager.subscribe` of a browser gives, as JSON. Keys in base64url. */
export interface Subscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** A browser of a member that takes notices (Web Push). */
@Entity('push_subscriptions')
@Index('push_subscriptions_one', ['workspaceId', 'userId', 'endpointDigest'], { unique: true })
@Index('push_subscriptions_endpoint', ['endpointDigest'])
@ForeignKey(() => Membership, ['workspaceId', 'userId'], ['workspaceId', 'userId'], { onDelete: 'CASCADE' })
export class PushSubscription {
  @Id() id: string;
  @Column('uuid') workspaceId: string;
  @Column('uuid') userId: string;
  /** SHA-256 of the address: by it the subscription is found again. */
  @Column('bytea') endpointDigest: Buffer;
  /** A {@link Subscription}, sealed. */
  @Sealed(ownerOfNotices, 'workspaceId', 'userId') @Column('bytea') subscription: Buffer;
  /** The last time that the browser said that it is there. */
  @Timestamp({ default: () => 'clock_timestamp()' }) registeredAt: Date;
}
