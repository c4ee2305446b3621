import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { Big, CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { Task } from '../tasks/task.entity.js';

/** What the folders of a task held at one moment (reference §22). */
@Entity('snapshots')
// (task_id, created_at DESC, id DESC): TypeORM describes no order.
@Index('snapshots_page', { synchronize: false })
export class TaskSnapshot {
  @Id() id: string;
  @Column('uuid') workspaceId: string;
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @Column('uuid')
  taskId: string;
  @Column('int') turn: number;
  /** How many steps the turn had then. */
  @Column('int') step: number;
  @Column('int') files: number;
  /** The sum of the sizes of its files. */
  @Big() bytes: number;
  /** SHA-256 of the object that holds the manifest. */
  @Column('text') manifest: string;
  /** Stands for the folders as they were; null when a change could come unseen. The next snapshot is made by comparison with it. */
  @Column('text', { nullable: true }) walk: string | null;
  @CreatedAt() createdAt: Date;
}

/** An object of the storage: a manifest, or blobs packed together. It is stored before its row. */
@Entity('snapshot_objects')
@Index('snapshot_objects_unnamed', ['unnamedAt'], { where: 'unnamed_at IS NOT NULL' })
@Index('snapshot_objects_left', ['workspaceId'], { where: 'unnamed_at IS NOT NULL' })
export class SnapshotObject {
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  workspaceId: string;
  @PrimaryColumn('text') sha256: string;
  @Big() bytes: number;
  /** Since when no snapshot names it: then it counts no more, and goes a day later. The trigger on `snapshot_uses` keeps it. */
  @Timestamp({ nullable: true, default: () => 'now()' }) unnamedAt: Date | null;
}

/** The objects that a snapshot needs. */
@Entity('snapshot_uses')
@Index('snapshot_uses_object', ['workspaceId', 'object'])
// Deferred: with a workspace both go, in whatever order.
@ForeignKey(() => SnapshotObject, ['workspaceId', 'object'], ['workspaceId', 'sha256'], {
  deferrable: 'INITIALLY DEFERRED',
})
export class SnapshotUse {
  @ForeignKey(() => TaskSnapshot, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  snapshotId: string;
  @Column('uuid') workspaceId: string;
  /** Its SHA-256. */
  @PrimaryColumn('text') object: string;
}

/** Where the bytes of a file, or of a piece of one, lie: the snapshots of a workspace share them. */
@Entity('snapshot_blobs')
@Index('snapshot_blobs_object', ['workspaceId', 'object'])
@ForeignKey(() => SnapshotObject, ['workspaceId', 'object'], ['workspaceId', 'sha256'], { onDelete: 'CASCADE' })
export class SnapshotBlob {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('bytea') sha256: Buffer;
  @Column('text') object: string;
  /** Of the frame, in the object. */
  @Column('int') offset: number;
  @Column('int') length: number;
  /** Of the blob, in the frame. */
  @Column('int') start: number;
  @Column('int') size: number;
}
