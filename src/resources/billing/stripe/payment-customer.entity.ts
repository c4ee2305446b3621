import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import { Big, CreatedAt, Timestamp } from '../../../platform/database/columns.js';

/** The customer of the payment provider that a workspace is (reference §14). It is no foreign key: a subscription must end after its workspace. */
@Entity('payment_customers')
@Unique(['customerId'])
@Index('payment_customers_late', ['lateSince'], { where: 'late_since IS NOT NULL' })
export class PaymentCustomer {
  @PrimaryColumn('uuid') workspaceId: string;
  @Column('text') customerId: string;
  @CreatedAt() createdAt: Date;
  /** How often its subscriptions were read: what an older reading brings is not written. */
  @Big({ default: 0 }) look: number;
  /** Since when a payment of its subscription is late; null when none is. */
  @Timestamp({ nullable: true }) lateSince: Date | null;
  /** When all of it was last compared with the provider. */
  @Timestamp({ nullable: true }) comparedAt: Date | null;
}
