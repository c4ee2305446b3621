import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Workspace } from '../../../access/workspaces/workspace.entity.js';

/** An entry of the ledger whose cost was reported to the payment provider, or that it has refused (reference §14). Its key is that of the entry. */
@Entity('meter_reports')
export class MeterReport {
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  workspaceId: string;
  @PrimaryColumn('timestamptz', { precision: 3 }) at: Date;
  @PrimaryColumn('uuid') messageId: string;
  /** Why the provider refuses it for good: it is not reported, and not tried again. Null: it is reported. */
  @Column('text', { nullable: true }) refusal: string | null;
}
