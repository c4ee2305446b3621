import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { HookDelivery } from '../integrations/hook-delivery.entity.js';
import { Task } from '../tasks/task.entity.js';
import { Automation } from './automation.entity.js';

export const TRIGGER_TYPES = ['schedule', 'event', 'manual'] as const;
export type TriggerType = (typeof TRIGGER_TYPES)[number];
export const AUTOMATION_RUN_STATUSES = ['waiting', 'started', 'skipped', 'failed'] as const;
export type AutomationRunStatus = (typeof AUTOMATION_RUN_STATUSES)[number];

/** One occurrence of an automation and what became of it (reference §12). */
@Entity('automation_runs')
@Index('automation_runs_occurrence', ['automationId', 'scheduledAt'], { unique: true })
@Index('automation_runs_delivery', ['automationId', 'deliveryId'], { unique: true })
@Index('automation_runs_one_waiting', ['automationId'], { unique: true, where: `status = 'waiting'` })
// Both (automation_id, created_at DESC, id DESC): TypeORM describes no order.
@Index('automation_runs_page', { synchronize: false })
@Index('automation_runs_started', { synchronize: false })
@Index('automation_runs_deliveries', ['deliveryId'], { where: 'delivery_id IS NOT NULL' })
@Index('automation_runs_task', ['taskId'], { where: 'task_id IS NOT NULL' })
@Check('automation_runs_trigger_type_check', `trigger_type IN ('schedule', 'event', 'manual')`)
@Check('automation_runs_status_check', `status IN ('waiting', 'started', 'skipped', 'failed')`)
export class AutomationRun {
  @Id() id: string;
  @ForeignKey(() => Automation, { onDelete: 'CASCADE' })
  @Column('uuid')
  automationId: string;
  @Column('text') triggerType: TriggerType;
  /** Of a schedule: when it was due. */
  @Timestamp({ nullable: true }) scheduledAt: Date | null;
  /** Of an event: its name, `github.push`, and what brought it. */
  @Column('text', { nullable: true }) event: string | null;
  @ForeignKey(() => HookDelivery, { onDelete: 'SET NULL' })
  @Column('uuid', { nullable: true })
  deliveryId: string | null;
  @Column('text') status: AutomationRunStatus;
  /** Why it waits, was skipped or failed; null when it started. */
  @Column('jsonb', { nullable: true }) reason: { code: string; message: string } | null;
  @ForeignKey(() => Task, { onDelete: 'SET NULL' })
  @Column('uuid', { nullable: true })
  taskId: string | null;
  @CreatedAt() createdAt: Date;
}
