import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { Big } from '../../platform/database/columns.js';

/**
 * What a workspace used on a day, in UTC: counters beside the ledger, kept by the statements that meter
 * (docs/decisions/0038).
 */
@Entity('usage_days')
export class UsageDay {
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  workspaceId: string;
  @PrimaryColumn('date') day: string;
  /** Turns that were started. */
  @Big({ default: 0 }) tasks: number;
  /** In and out. */
  @Big({ default: 0 }) tokens: number;
  /** Millionths of a US dollar; a model without prices adds nothing. */
  @Big({ default: 0 }) costMicros: number;
}
