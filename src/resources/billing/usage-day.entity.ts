import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { Big } from '../../platform/database/columns.js';

/**
 * What a workspace used on a day, in UTC: counters beside the ledger, kept by the statements that meter
 * (docs/decisions/0038). A day is the sum of its lanes.
 */
@Entity('usage_days')
export class UsageDay {
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  workspaceId: string;
  @PrimaryColumn('date') day: string;
  /** 0 for turns and for all that counts against a window; the calls of tasks without windows have several, so that they do not wait for each other. */
  @PrimaryColumn('smallint', { default: 0 }) lane: number;
  /** Turns that were started. */
  @Big({ default: 0 }) tasks: number;
  /** In and out. */
  @Big({ default: 0 }) tokens: number;
  /** Millionths of a US dollar; a model without prices adds nothing. */
  @Big({ default: 0 }) costMicros: number;
}
