import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { Big } from '../../platform/database/columns.js';

/** In place of a project or an automation that there is none of: a part of a key is never null. */
export const NOWHERE = '00000000-0000-0000-0000-000000000000';

/**
 * The ledger of a day that is over, in UTC, by all that a report groups by (reference §14, docs/decisions/0089). Exactly the entries of the ledger are in
 * it. As those, it outlives what its ids name, until the workspace is deleted.
 */
@Entity('usage_sums')
export class UsageSum {
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  workspaceId: string;
  @PrimaryColumn('date') day: string;
  @PrimaryColumn('text') model: string;
  /** {@link NOWHERE} for none; the automation too. */
  @PrimaryColumn('uuid') projectId: string;
  @PrimaryColumn('uuid') automationId: string;
  @PrimaryColumn('uuid', { name: 'created_by' }) createdById: string;
  /** Turns that called a model. */
  @Big() tasks: number;
  /** Calls of models. */
  @Big() steps: number;
  @Big() inputTokens: number;
  @Big() outputTokens: number;
  @Big() cachedInputTokens: number;
  @Big() reasoningTokens: number;
  /** Millionths of a US dollar; null when no call was of a model with prices. */
  @Big({ nullable: true }) costMicros: number | null;
}

/** Up to which day the ledger of a workspace is added up. */
@Entity('usage_closed')
export class UsageClosed {
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  workspaceId: string;
  /** The first day that is not. */
  @Column('date') until: string;
}
