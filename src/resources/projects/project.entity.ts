import type { Check as TaskCheck } from '../../engine/checks/check.js';
import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { Environment } from '../environments/environment.entity.js';

export const VISIBILITIES = ['private', 'workspace'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** A group of tasks and files (reference §4). */
@Entity('projects')
// (workspace_id, created_at DESC, id DESC): TypeORM describes no order.
@Index('projects_page', { synchronize: false })
@Index('projects_environment', ['environmentId'], { where: 'environment_id IS NOT NULL' })
@Check('projects_visibility_check', `visibility IN ('private', 'workspace')`)
export class Project {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  @ForeignKey(() => User)
  @Column('uuid')
  ownerId: string;
  @Column('text') name: string;
  @Column('text', { nullable: true }) description: string | null;
  @Column('text') visibility: Visibility;
  @Column('text', { array: true, default: '{}' }) tags: string[];
  /** That its tasks work in when they name none; null for none. */
  @ForeignKey(() => Environment, { onDelete: 'SET NULL' })
  @Column('uuid', { nullable: true })
  environmentId: string | null;
  /** Of tasks that name none themselves; null: none. */
  @Column('jsonb', { nullable: true }) checks: TaskCheck[] | null;
  /** As of tasks; null: the default. */
  @Column('int', { nullable: true }) maxRepairs: number | null;
  @CreatedAt() createdAt: Date;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
}
