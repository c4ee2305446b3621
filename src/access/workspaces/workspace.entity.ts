import { Check, Column, Entity, Unique } from 'typeorm';
import type { UsageWindow } from '../../platform/config/plans.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import { Big, CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';

/** The states of a subscription (reference §14). */
export const SUBSCRIPTION_STATUSES = ['none', 'trialing', 'active', 'past_due', 'paused', 'canceled'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

/** A tenant (reference §3). */
@Entity('workspaces')
@Unique(['slug'])
@Check('workspaces_plan_check', `plan IN ('free', 'paid')`)
@Check('workspaces_top_up_micros_check', `top_up_micros >= 0`)
@Check(
  'workspaces_subscription_status_check',
  `subscription_status IN ('none', 'trialing', 'active', 'past_due', 'paused', 'canceled')`,
)
export class Workspace {
  @Id() id: string;
  @Column('text') slug: string;
  @Column('text') name: string;
  @Column('text') plan: Plan;
  /** The kinds of message parts that are exposed; null: as the deployment has it (reference §6). */
  @Column('text', { array: true, nullable: true }) transparency: string[] | null;
  /** The slug of the agent of its tasks that name none; null for none (reference §27.5). */
  @Column('text', { nullable: true }) defaultAgent: string | null;
  @CreatedAt() createdAt: Date;
  /** What it may use, each in place of its plan's allowance of that window and unit; null: as its plan says (reference §14). */
  @Column('jsonb', { nullable: true }) usageWindows: UsageWindow[] | null;
  /** What is left to pay for use beyond the windows, in millionths of a US dollar. */
  @Big({ default: 0 }) topUpMicros: number;
  @Column('text', { default: 'none' }) subscriptionStatus: SubscriptionStatus;
  @Timestamp({ nullable: true }) renewsAt: Date | null;
  @Timestamp({ nullable: true }) endsAt: Date | null;
  @Column('boolean', { default: false }) cancelAtPeriodEnd: boolean;
}
