import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import type { CommandStatus } from '../../../engine/agent/commands/agent-command.js';
import { Big, Id, Timestamp } from '../../../platform/database/columns.js';
import { Task } from '../task.entity.js';

/** A command of the agent that goes on, or went on, beyond its call (reference §27.2). */
@Entity('task_commands')
@Index('task_commands_number', ['taskId', 'number'], { unique: true })
// (task_id, created_at DESC, id DESC): TypeORM describes no order.
@Index('task_commands_page', { synchronize: false })
@Check('task_commands_status_check', `status IN ('running', 'exited', 'stopped', 'lost')`)
export class TaskCommand {
  @Id() id: string;
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @Column('uuid')
  taskId: string;
  /** `b<number>` to everybody else. */
  @Column('int') number: number;
  @Column('text') toolCallId: string;
  @Column('text') command: string;
  @Column('boolean') terminal: boolean;
  @Column('text', { default: 'running' }) status: CommandStatus;
  @Column('int', { nullable: true }) exitCode: number | null;
  /** The last 16 KiB; while it runs, and of one that was taken from its worker, the last 2 KiB as of some seconds before. */
  @Column('text', { default: '' }) output: string;
  /** Of all that it said. */
  @Big({ default: 0 }) outputBytes: number;
  /** Whether the agent knows that it has ended: it has ended it, has been shown that, or was told of it. */
  @Column('boolean', { default: false }) told: boolean;
  /** A person has asked for its end. */
  @Column('boolean', { default: false }) stopAsked: boolean;
  @Timestamp({ default: () => 'clock_timestamp()' }) createdAt: Date;
  @Timestamp({ nullable: true }) endedAt: Date | null;
}
