import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { CreatedAt, Id } from '../../platform/database/columns.js';
import { EnvironmentBuild } from './environment.entity.js';

/** What a command did that was tried in a build. */
export type TrialResult = { exitCode: number; stdout: string; stderr: string } | { failed: string };

/** A command that somebody tries in a build: from the request to the worker, and back. It lasts as long as the request. */
@Entity('environment_trials')
@Index('environment_trials_build', ['buildId'])
export class EnvironmentTrial {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  @ForeignKey(() => EnvironmentBuild, { onDelete: 'CASCADE' })
  @Column('uuid')
  buildId: string;
  @Column('text') command: string;
  /** Null until it has ended. */
  @Column('jsonb', { nullable: true }) result: TrialResult | null;
  @CreatedAt() createdAt: Date;
}
