import { Check, Column, Entity, Index } from 'typeorm';
import { Id, Timestamp } from '../../platform/database/columns.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One request to a webhook. */
export interface Attempt {
  /** ISO 8601. */
  at: string;
  durationMs: number;
  /** Of the answer; null when none came, and then `error` says why. */
  status: number | null;
  error: string | null;
  /** The beginning of the answer's body; null unless it came from a public address. */
  response: string | null;
}

/**
 * What is sent to one webhook about one event (reference §18). The trigger on `workspace_events` inserts it (deliver-event.function.ts). No foreign keys: what is
 * left of a webhook that is gone is never sent, and a chore deletes it; the deletion of a task deletes its own.
 */
@Entity('webhook_deliveries')
@Index('webhook_deliveries_due', ['webhookId', 'nextAttemptAt'], { where: `status = 'pending'` })
@Index('webhook_deliveries_leases', ['webhookId'], { where: 'lease_until IS NOT NULL' })
@Index('webhook_deliveries_log', ['webhookId', 'createdAt', 'id'])
@Index('webhook_deliveries_task', ['taskId'], { where: 'task_id IS NOT NULL' })
@Check('webhook_deliveries_status_check', `status IN ('pending', 'delivered', 'failed', 'cancelled')`)
@Check('webhook_deliveries_check', `(status = 'pending') = (next_attempt_at IS NOT NULL)`)
export class WebhookDelivery {
  @Id() id: string;
  @Column('uuid') webhookId: string;
  /** `<taskId>-<seq>`, or a UUIDv7. */
  @Column('text') eventId: string;
  @Column('text') eventType: string;
  @Column('uuid', { nullable: true }) taskId: string | null;
  /** The string that is signed. */
  @Column('text') body: string;
  @Column('text', { default: 'pending' }) status: DeliveryStatus;
  /** Those that are on record. */
  @Column('int', { default: 0 }) attempts: number;
  /** Not null exactly while it is pending. */
  @Timestamp({ nullable: true, default: () => 'clock_timestamp()' }) nextAttemptAt: Date | null;
  /** While a process makes an attempt; and the number of that claim, which every record of an attempt names. */
  @Timestamp({ nullable: true }) leaseUntil: Date | null;
  @Column('int', { default: 0 }) epoch: number;
  /** Oldest first. */
  @Column('jsonb', { default: [] }) attemptLog: Attempt[];
  @Column('boolean', { default: false }) redelivery: boolean;
  @Timestamp({ default: () => 'clock_timestamp()' }) createdAt: Date;
}
