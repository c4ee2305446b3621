import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import type { AgentDefinition } from './definition.js';

/** A way of working under a name (reference §27.5). What it is stands in its versions. It never goes: tasks name it for their life. */
@Entity('agents')
@Index('agents_page', ['workspaceId', 'createdAt', 'id'])
@Index('agents_slug', ['workspaceId', 'slug'], { unique: true })
export class Agent {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  /** By which clients name it. It stays as it is. */
  @Column('text') slug: string;
  @Column('text') name: string;
  @Column('text', { default: '' }) description: string;
  /** The newest one. */
  @Column('int', { default: 1 }) version: number;
  /** By name the version. */
  @Column('jsonb', { default: {} }) channels: Record<string, number>;
  @Column('boolean', { default: false }) archived: boolean;
  @ForeignKey(() => User)
  @Column('uuid', { name: 'created_by' })
  createdById: string;
  @CreatedAt() createdAt: Date;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
}

/** What an agent was at one time. It never changes. */
@Entity('agent_versions')
export class AgentVersion {
  @ForeignKey(() => Agent, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  agentId: string;
  @PrimaryColumn('int') version: number;
  /** With all keys in the order in which they were given. */
  @Column('json') definition: AgentDefinition;
  @ForeignKey(() => User)
  @Column('uuid', { name: 'created_by' })
  createdById: string;
  @CreatedAt() createdAt: Date;
}
