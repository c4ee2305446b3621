import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Workspace } from '../../access/workspaces/workspace.entity.js';

/** When a workspace was last given a place, so that places go round (docs/decisions/0014). */
@Entity('workspace_claims')
export class WorkspaceClaim {
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  workspaceId: string;
  @Column('timestamptz') claimedAt: Date;
}
