import { Check, Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { Timestamp } from '../database/columns.js';

/** An event that handlers read, of a task or of an automation (reference §17). No foreign keys: what it tells of may be gone. */
@Entity('workspace_events')
@Index('workspace_events_order', ['workspaceId', 'xid', 'id'])
@Index('workspace_events_task', ['taskId'], { where: 'task_id IS NOT NULL' })
@Check('workspace_events_check', '(seq IS NULL) <> (event_id IS NULL)')
export class WorkspaceEvent {
  /** `pg_current_xact_id()` of the transaction that wrote it. The log is read in the order (xid, id), below the oldest open transaction. */
  @PrimaryColumn('bigint') xid: number;
  @PrimaryGeneratedColumn('increment', { type: 'bigint' }) id: number;
  @Column('uuid') workspaceId: string;
  @Column('uuid', { nullable: true }) taskId: string | null;
  /** The number among the events of the task: it has this, or an `eventId`. */
  @Column('int', { nullable: true }) seq: number | null;
  @Column('uuid', { nullable: true }) eventId: string | null;
  @Column('text') type: string;
  @Column('jsonb') data: Record<string, unknown>;
  /** When it was written: later than its transaction began, which may have waited for the task. */
  @Timestamp({ default: () => 'clock_timestamp()' }) createdAt: Date;
}
