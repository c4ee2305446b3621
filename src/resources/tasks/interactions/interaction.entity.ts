import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { CreatedAt, Id, Timestamp } from '../../../platform/database/columns.js';
import { Message } from '../messages/message.entity.js';
import { Task } from '../task.entity.js';

export interface QuestionOption {
  id: string;
  label: string;
  description: string | null;
}

/** A question of the agent to a person, or an approval (reference §4). At most one of a task is pending. */
@Entity('interactions')
@Index('interactions_task', ['taskId'])
@Index('interactions_message', ['messageId'])
@Index('interactions_one_pending', ['taskId'], { unique: true, where: `status = 'pending'` })
@Index('interactions_expiry', ['expiresAt'], { where: `status = 'pending'` })
@Check('interactions_type_check', `type IN ('question', 'choice', 'approval')`)
@Check('interactions_status_check', `status IN ('pending', 'answered', 'expired', 'cancelled')`)
@Check('interactions_decision_check', `decision IN ('approve', 'deny')`)
export class Interaction {
  @Id() id: string;
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @Column('uuid')
  taskId: string;
  /** The message and the call of it that asks. */
  @ForeignKey(() => Message, { onDelete: 'CASCADE' })
  @Column('uuid')
  messageId: string;
  @Column('text') toolCallId: string;
  @Column('text') type: 'question' | 'choice' | 'approval';
  @Column('text') question: string;
  @Column('jsonb', { nullable: true }) options: QuestionOption[] | null;
  @Column('boolean', { default: false }) multiple: boolean;
  @Column('boolean', { default: false }) allowText: boolean;
  @Column('text', { default: 'pending' }) status: 'pending' | 'answered' | 'expired' | 'cancelled';
  @CreatedAt() createdAt: Date;
  @Timestamp() expiresAt: Date;
  @Column('text', { nullable: true }) decision: 'approve' | 'deny' | null;
  @Column('text', { nullable: true }) reason: string | null;
  /** Of an approval: the tool that is asked about, by its own name, and for which there are no more questions when a person says so. */
  @Column('text', { nullable: true }) tool: string | null;
  /** What a yes adds to the `approvedTools` of the task, whatever is remembered. */
  @Column('text', { nullable: true }) grants: string | null;
}
