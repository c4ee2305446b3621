import { Check, Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import type { ForModel, JsonValue } from '../../../engine/models/conversation.js';
import { Message } from './message.entity.js';

/** A tool call and its result: one row with a state, of which `tool_call` and `tool_result` are two views (reference §6). */
@Entity('tool_invocations')
@Unique(['messageId', 'toolCallId'])
@Check('tool_invocations_state_check', `state IN ('running', 'success', 'error', 'denied')`)
@Check('tool_invocations_stage_check', `stage IN ('approved', 'begun')`)
export class ToolInvocation {
  @ForeignKey(() => Message, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  messageId: string;
  /** The place among the calls of the message. */
  @PrimaryColumn('int') idx: number;
  @Column('text') toolCallId: string;
  @Column('text') name: string;
  @Column('jsonb') input: JsonValue;
  @Column('text') state: 'running' | 'success' | 'error' | 'denied';
  @Column('jsonb', { nullable: true }) output: JsonValue;
  /** Of a denied call the reason, which is for the model alone. */
  @Column('text', { nullable: true }) error: string | null;
  @Column('timestamptz', { default: () => 'now()' }) startedAt: Date;
  @Column('timestamptz', { nullable: true }) finishedAt: Date | null;
  /** How far a call has come in a task with approvals; null where nothing is asked. */
  @Column('text', { nullable: true }) stage: 'approved' | 'begun' | null;
  /** What the model alone reads of the result; the API never shows it. */
  @Column('jsonb', { nullable: true }) forModel: ForModel | null;
  /** `input` as JSON text with the keys in the model's order: what the model is sent again. Null for calls from before this was kept. */
  @Column('text', { nullable: true }) inputText: string | null;
}
