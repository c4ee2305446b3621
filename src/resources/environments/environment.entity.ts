import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { Big, CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import type { Definition } from './definition.js';

/** A named description of the box that tasks work in (reference §25). What it describes is in its versions. */
@Entity('environments')
@Index('environments_page', ['workspaceId', 'createdAt', 'id'])
@Index('environments_slug', ['workspaceId', 'slug'], { unique: true })
export class Environment {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  /** By which clients name it. It stays as it is. */
  @Column('text') slug: string;
  @Column('text') name: string;
  /** The newest one. */
  @Column('int', { default: 1 }) version: number;
  @ForeignKey(() => User)
  @Column('uuid', { name: 'created_by' })
  createdById: string;
  @CreatedAt() createdAt: Date;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
}

/** What an environment was at one time. It never changes. */
@Entity('environment_versions')
export class EnvironmentVersion {
  @ForeignKey(() => Environment, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  environmentId: string;
  @PrimaryColumn('int') version: number;
  @Column('jsonb') definition: Definition;
  @ForeignKey(() => User)
  @Column('uuid', { name: 'created_by' })
  createdById: string;
  @CreatedAt() createdAt: Date;
}

export const BUILD_STATES = ['building', 'ready', 'failed'] as const;
export type BuildState = (typeof BUILD_STATES)[number];

/** Folders that a version's setup has made, or is making, for tasks to begin with. */
@Entity('environment_builds')
@Index('environment_builds_page', ['environmentId', 'createdAt', 'id'])
@Index('environment_builds_current', ['environmentId', 'version', 'key', 'driver'], {
  unique: true,
  where: `state IN ('building', 'ready')`,
})
@Index('environment_builds_manifest', ['workspaceId', 'manifest'], { where: 'manifest IS NOT NULL' })
@Check('environment_builds_state_check', `state IN ('building', 'ready', 'failed')`)
@ForeignKey(() => EnvironmentVersion, ['environmentId', 'version'], ['environmentId', 'version'], {
  onDelete: 'CASCADE',
})
export class EnvironmentBuild {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  @Column('uuid') environmentId: string;
  @Column('int') version: number;
  /** What it was made from, besides the version: a commit, a hash of lockfiles or a day; empty for nothing. */
  @Column('text', { default: '' }) key: string;
  /** Of the sandbox. */
  @Column('text') driver: string;
  @Column('text') state: BuildState;
  /** The machine that makes it, or has made it: the id in its DATA_DIR. */
  @Column('uuid', { nullable: true }) machineId: string | null;
  /** Until when that machine has it for itself; null unless it is building. */
  @Timestamp({ nullable: true }) leaseUntil: Date | null;
  /** SHA-256 of the object that holds the manifest of its folders; null until it is ready. */
  @Column('text', { nullable: true }) manifest: string | null;
  @Column('int', { default: 0 }) files: number;
  /** The sum of the sizes of its files. */
  @Big({ default: 0 }) bytes: number;
  /** The last 16 KiB of what its commands wrote. */
  @Column('text', { default: '' }) log: string;
  /** Why it failed; else null. */
  @Column('text', { nullable: true }) error: string | null;
  @CreatedAt() createdAt: Date;
  @Timestamp({ nullable: true }) finishedAt: Date | null;
}
