import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { SnapshotObject } from '../snapshots/snapshot.entity.js';
import { EnvironmentBuild } from './environment.entity.js';

/** The objects that a build needs. They are of the same kind as those of snapshots, and counted and kept with them. */
@Entity('environment_build_uses')
@Index('environment_build_uses_object', ['workspaceId', 'object'])
// Deferred: with a workspace both go, in whatever order.
@ForeignKey(() => SnapshotObject, ['workspaceId', 'object'], ['workspaceId', 'sha256'], {
  deferrable: 'INITIALLY DEFERRED',
})
export class EnvironmentBuildUse {
  @ForeignKey(() => EnvironmentBuild, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  buildId: string;
  @Column('uuid') workspaceId: string;
  /** Its SHA-256. */
  @PrimaryColumn('text') object: string;
}
