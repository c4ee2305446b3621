import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Big, Timestamp } from '../../../platform/database/columns.js';
import { Message } from '../messages/message.entity.js';
import { Task } from '../task.entity.js';

/**
 * A task that a call of an agent has made, and what of the budget of its parent's turn it holds (reference §27, docs/decisions/0103). It outlasts the
 * task: the call has a result for one that was deleted, too.
 */
@Entity('task_children')
@Index('task_children_task', ['taskId'], { unique: true })
@Index('task_children_parent', ['parentId', 'turn'])
export class TaskChild {
  /** The message and the call that made it, and its place in that. */
  @ForeignKey(() => Message, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  messageId: string;
  @PrimaryColumn('text') toolCallId: string;
  @PrimaryColumn('int') idx: number;
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @Column('uuid')
  parentId: string;
  /** Of the parent. */
  @Column('int') turn: number;
  /** Its number among all that the parent has made, from 1: it names the folder of what comes back. */
  @Column('int') number: number;
  /** No foreign key: the task may be deleted. */
  @Column('uuid') taskId: string;
  @Column('text') title: string;
  /** The patch of the parent's repository when it began; null without one. */
  @Column('text', { nullable: true }) baseSha256: string | null;
  /** What it may use of the parent's turn; null: that has no such limit. */
  @Column('int', { nullable: true }) reservedSteps: number | null;
  @Big({ nullable: true }) reservedTokens: number | null;
  @Big({ nullable: true }) reservedCostMicros: number | null;
  /** What it had used when it was final first, its own tasks included; null until then. */
  @Column('int', { nullable: true }) usedSteps: number | null;
  @Big({ nullable: true }) usedTokens: number | null;
  @Big({ nullable: true }) usedCostMicros: number | null;
  /** When it was final first, or deleted: what it has not used is the parent's again from then on. */
  @Timestamp({ nullable: true }) settledAt: Date | null;
  /** The parent goes on without its end. */
  @Column('boolean', { default: false }) released: boolean;
}
