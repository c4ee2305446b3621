import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import type { CheckStatus } from '../../../engine/checks/check.js';
import { Big, Id, Timestamp } from '../../../platform/database/columns.js';
import { Task } from '../task.entity.js';

export const CHECK_PHASES = ['before', 'after'] as const;

/** What became of a check of a task (reference §26). */
@Entity('task_checks')
// (task_id, created_at DESC, id DESC): TypeORM describes no order.
@Index('task_checks_page', { synchronize: false })
@Check('task_checks_phase_check', `phase IN ('before', 'after')`)
@Check('task_checks_status_check', `status IN ('passed', 'failed', 'timed_out', 'error')`)
export class TaskCheck {
  @Id() id: string;
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @Column('uuid')
  taskId: string;
  @Column('int') turn: number;
  /** How often the agent had mended its work in this turn by then. */
  @Column('int') round: number;
  @Column('text', { default: 'after' }) phase: (typeof CHECK_PHASES)[number];
  @Column('text') name: string;
  @Column('text') command: string;
  @Column('boolean') required: boolean;
  @Column('text', { array: true, default: '{}' }) protect: string[];
  @Column('boolean', { default: false }) network: boolean;
  @Column('text') status: CheckStatus;
  @Column('int', { nullable: true }) exitCode: number | null;
  @Column('int') durationMs: number;
  /** The last 64 KiB. */
  @Column('text') output: string;
  /** Of all that it wrote. */
  @Big() outputBytes: number;
  @Column('text') outputSha256: string;
  @Column('text', { array: true, default: '{}' }) protectedChanged: string[];
  @Timestamp({ default: () => 'clock_timestamp()' }) createdAt: Date;
}
