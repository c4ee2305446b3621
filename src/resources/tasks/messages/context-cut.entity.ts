import { Check, Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Big } from '../../../platform/database/columns.js';
import { Task } from '../task.entity.js';

/** What the model is not sent any more of a task's conversation (reference §15, docs/decisions/0048). */
@Entity('context_cuts')
@Check('context_cuts_kind_check', `kind IN ('results', 'summary')`)
export class StoredCut {
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  taskId: string;
  /** The place of the message that tells of it. */
  @PrimaryColumn('int') seq: number;
  @Column('text') kind: 'results' | 'summary';
  /** The last message that it concerns, and of `results` how many of its calls. */
  @Column('uuid') uptoMessageId: string;
  @Column('int') uptoCalls: number;
  /** Of `summary`: what stands for the messages. */
  @Column('text', { nullable: true }) summary: string | null;
  /** The last message at that time, and the tokens of all that is sent up to it. */
  @Column('uuid') throughMessageId: string;
  @Big() tokensAfter: number;
}
