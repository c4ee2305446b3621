import { Column, Entity, PrimaryColumn } from 'typeorm';
import { Big } from '../../platform/database/columns.js';

/**
 * One call of a model: what it used and what for (reference §14). The statement that records the step inserts it. Its ids are no
 * foreign keys: it stays when what they name is deleted, until the workspace is.
 */
@Entity('usage_ledger')
export class UsageLedgerEntry {
  @PrimaryColumn('uuid') workspaceId: string;
  /** By the clock of the database. */
  @PrimaryColumn('timestamptz', { precision: 3 }) at: Date;
  /** The message that the call made. */
  @PrimaryColumn('uuid') messageId: string;
  @Column('uuid') taskId: string;
  /** The project and the owner that the task had at that time. */
  @Column('uuid', { nullable: true }) projectId: string | null;
  @Column('uuid', { name: 'created_by' }) createdById: string;
  /** What made the task; null for the API. */
  @Column('uuid', { nullable: true }) automationId: string | null;
  /** An id of `GET /v1/models`. */
  @Column('text') model: string;
  /** Whether it is the first call of a turn: counted, these are the turns that called a model. */
  @Column('boolean') startsTurn: boolean;
  /** Cached ones included. */
  @Big() inputTokens: number;
  /** Reasoning included. */
  @Big() outputTokens: number;
  @Big() cachedInputTokens: number;
  @Big() reasoningTokens: number;
  /** Millionths of a US dollar; null on a model without prices. */
  @Big({ nullable: true }) costMicros: number | null;
}
