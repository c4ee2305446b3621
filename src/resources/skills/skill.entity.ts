import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { Big, CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { StoredFile } from '../files/file.entity.js';

/** Know-how of a workspace under a name (reference §27). What it holds is in its versions. */
@Entity('skills')
@Index('skills_page', ['workspaceId', 'createdAt', 'id'])
@Index('skills_name', ['workspaceId', 'name'], { unique: true })
export class Skill {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  /** As its SKILL.md has it. It stays as it is. */
  @Column('text') name: string;
  /** The newest one. */
  @Column('int', { default: 1 }) version: number;
  /** Whether tasks have it that name none. */
  @Column('boolean', { name: 'is_default', default: false }) default: boolean;
  @ForeignKey(() => User)
  @Column('uuid', { name: 'created_by' })
  createdById: string;
  @CreatedAt() createdAt: Date;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
}

/** What a skill was at one time. It never changes. */
@Entity('skill_versions')
@Index('skill_versions_file', ['fileId'])
export class SkillVersion {
  @ForeignKey(() => Skill, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  skillId: string;
  @PrimaryColumn('int') version: number;
  @Column('text') description: string;
  /** How many it has. */
  @Column('int') files: number;
  /** The sum of their sizes. */
  @Big() bytes: number;
  /** Its zip, which counts to what the workspace stores. No client sees it as a file. */
  @ForeignKey(() => StoredFile, { onDelete: 'CASCADE' })
  @Column('uuid')
  fileId: string;
  @ForeignKey(() => User)
  @Column('uuid', { name: 'created_by' })
  createdById: string;
  @CreatedAt() createdAt: Date;
}
