import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { Big, CreatedAt, Id } from '../../platform/database/columns.js';
import { Project } from '../projects/project.entity.js';
import { Task } from '../tasks/task.entity.js';

/** A durable file (reference §7): a row that points at bytes, which equal files of a workspace share. */
@Entity('files')
@Index('files_bytes', ['workspaceId', 'sha256'])
// (task_id, created_at DESC, id DESC), and the same by project: TypeORM describes no order.
@Index('files_task_page', { synchronize: false })
@Index('files_project_page', { synchronize: false })
// What is left of deleted projects, by workspace, in the same order.
@Index('files_ungrouped_page', { synchronize: false })
@Index('files_attachment_path', ['taskId', 'path'], { unique: true, where: 'path IS NOT NULL' })
@Check('files_origin_check', `origin IN ('attachment', 'task', 'project', 'shown', 'skill')`)
export class StoredFile {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  // Deferred: the files of a new task's message are inserted before the task.
  @ForeignKey(() => Task, { onDelete: 'CASCADE', deferrable: 'INITIALLY DEFERRED' })
  @Column('uuid', { nullable: true })
  taskId: string | null;
  @ForeignKey(() => Project, { onDelete: 'SET NULL' })
  @Column('uuid', { nullable: true })
  projectId: string | null;
  /** `shown`: what a result shows to the model; `skill`: the zip of one. No client sees either. */
  @Column('text') origin: 'attachment' | 'task' | 'project' | 'shown' | 'skill';
  @Column('text') name: string;
  /** Where an attachment lies in the workdir. */
  @Column('text', { nullable: true }) path: string | null;
  @Column('text') mediaType: string;
  /** Bytes. */
  @Big() size: number;
  @Column('text') sha256: string;
  /** The turn that published the file. */
  @Column('int', { nullable: true }) turn: number | null;
  /** Who uploaded it; of what the agent published, whose task it is. */
  @ForeignKey(() => User)
  @Column('uuid', { name: 'created_by' })
  createdById: string;
  @CreatedAt() createdAt: Date;
}
