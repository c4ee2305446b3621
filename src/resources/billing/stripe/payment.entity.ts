import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Workspace } from '../../../access/workspaces/workspace.entity.js';
import { Big, CreatedAt } from '../../../platform/database/columns.js';

/** One payment of a top-up, and what of it has come to the balance (reference §14). All amounts are millionths of a US dollar. */
@Entity('payments')
@Index('payments_of_workspace', ['workspaceId'])
export class Payment {
  /** The payment intent of the provider: what makes a payment count once. */
  @PrimaryColumn('text') id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  @CreatedAt() createdAt: Date;
  /** How often it was read: what an older reading brings is not written. */
  @Big({ default: 0 }) look: number;
  /** What was paid, and added to the balance. */
  @Big({ default: 0 }) paidMicros: number;
  /** What was refunded, or is disputed. */
  @Big({ default: 0 }) backMicros: number;
  /** What of that was taken from the balance, which had no more. */
  @Big({ default: 0 }) takenMicros: number;
}
