import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { Big } from '../../platform/database/columns.js';

/**
 * What a workspace stores, in bytes (reference §14). Triggers on workspaces, uploads, files and tasks keep it (storage-usage.function.ts):
 * nothing else writes it.
 */
@Entity('storage_usage')
export class StorageUsage {
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  workspaceId: string;
  /** What uploads and files point at; equal bytes count once. */
  @Big({ default: 0 }) storedBytes: number;
  /** The sum of the tasks' `workdirBytes`. */
  @Big({ default: 0 }) workdirBytes: number;
  /** The objects that snapshots name, each once (snapshots/count-snapshot-bytes.function.ts). */
  @Big({ default: 0 }) snapshotBytes: number;
}
