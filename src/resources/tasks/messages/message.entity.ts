import { Check, Column, Entity, ForeignKey, Index, Unique } from 'typeorm';
import { User } from '../../../access/workspaces/user.entity.js';
import type { StoredPart } from '../../../engine/models/conversation.js';
import { CreatedAt, Id, Timestamp } from '../../../platform/database/columns.js';
import { Task } from '../task.entity.js';

/** What a person sent, or one step of the model (reference §6). */
@Entity('messages')
@Unique(['taskId', 'seq'])
@Index('messages_waiting', ['taskId', 'seq'], { where: `status = 'queued'` })
@Check('messages_role_check', `role IN ('user', 'assistant')`)
@Check('messages_status_check', `status IN ('queued', 'in_progress', 'complete')`)
@Check('messages_mode_check', `mode IN ('queue', 'steer', 'interrupt')`)
export class Message {
  @Id() id: string;
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @Column('uuid')
  taskId: string;
  /** The place in the list. */
  @Column('int') seq: number;
  /** The place in the model's reading, and the turn that read it or made it; null while it waits (docs/decisions/0006). */
  @Column('int', { nullable: true }) readSeq: number | null;
  @Column('int', { nullable: true }) turn: number | null;
  @Column('text') role: 'user' | 'assistant';
  @Column('text') status: 'queued' | 'in_progress' | 'complete';
  /** Null for the assistant. */
  @ForeignKey(() => User)
  @Column('uuid', { name: 'created_by', nullable: true })
  createdById: string | null;
  @Column('jsonb') parts: StoredPart[];
  @CreatedAt() createdAt: Date;
  @Column('text', { default: 'queue' }) mode: 'queue' | 'steer' | 'interrupt';
  /** When a run took it; null while it waits, and of the assistant's. */
  @Timestamp({ nullable: true }) readAt: Date | null;
}
