import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import type { CheckPhase, CheckStatus } from '../../../engine/checks/check.js';
import { Big, Id, Timestamp } from '../../../platform/database/columns.js';
import { StoredFile } from '../../files/file.entity.js';
import { Task } from '../task.entity.js';

/** What became of a check of a task (reference §26). */
@Entity('task_checks')
// (task_id, created_at DESC, id DESC): TypeORM describes no order.
@Index('task_checks_page', { synchronize: false })
// (original, created_at DESC) WHERE original IS NOT NULL: as before.
@Index('task_checks_original', { synchronize: false })
@Index('task_checks_output_file', ['outputFileId'], { where: 'output_file_id IS NOT NULL' })
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
  @Column('text', { default: 'after' }) phase: CheckPhase;
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
  /** All that it wrote, where that is longer; null: it is not, or nobody has kept it. */
  @ForeignKey(() => StoredFile, { onDelete: 'SET NULL' })
  @Column('uuid', { nullable: true })
  outputFileId: string | null;
  @Column('text', { array: true, default: '{}' }) protectedChanged: string[];
  /** Of one `before` with a repository: what it ran on and with, in one digest. Others on the same need not run. */
  @Column('text', { nullable: true }) original: string | null;
  @Timestamp({ default: () => 'clock_timestamp()' }) createdAt: Date;
}
