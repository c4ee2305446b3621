import { Column, Entity, PrimaryColumn } from 'typeorm';
import { Timestamp } from '../../../platform/database/columns.js';

/** A change of a task that a client can see (reference §17). Thin: what it tells of is read from the row that `ref` names. */
@Entity('task_events')
export class TaskEvent {
  /** No foreign key: the statement that deletes a task deletes its events. */
  @PrimaryColumn('uuid') taskId: string;
  /** From 1, without gaps, in the order of the commits. */
  @PrimaryColumn('int') seq: number;
  @Column('text') type: string;
  /** The message, the file or the interaction. */
  @Column('uuid', { nullable: true }) ref: string | null;
  /** What must not change afterwards. */
  @Column('jsonb', { nullable: true }) data: Record<string, unknown> | null;
  /** When it was written: later than its transaction began, which may have waited for the task. */
  @Timestamp({ default: () => 'clock_timestamp()' }) createdAt: Date;
}
