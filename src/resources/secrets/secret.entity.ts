import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { Membership } from '../../access/workspaces/membership.entity.js';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { Sealed } from '../../platform/database/sealed.js';
import { Project } from '../projects/project.entity.js';
import type { Binding } from './binding.js';

export const SECRET_SCOPES = ['workspace', 'project', 'user'] as const;
export type SecretScope = (typeof SECRET_SCOPES)[number];

/** As whose a value is sealed. */
export const ownerOfValue = (secretId: string): string => `secret ${secretId}`;

/** A value that tasks use and never see (reference §24). */
@Entity('secrets')
@Index('secrets_page', ['workspaceId', 'createdAt', 'id'])
@Index('secrets_of_workspace', ['workspaceId', 'name'], { unique: true, where: `scope = 'workspace'` })
@Index('secrets_of_project', ['projectId', 'name'], { unique: true, where: 'project_id IS NOT NULL' })
@Index('secrets_of_user', ['workspaceId', 'userId', 'name'], { unique: true, where: 'user_id IS NOT NULL' })
@Check('secrets_scope_check', `scope IN ('workspace', 'project', 'user')`)
@Check('secrets_check', `(scope = 'project') = (project_id IS NOT NULL)`)
@Check('secrets_check1', `(scope = 'user') = (user_id IS NOT NULL)`)
@ForeignKey(() => Membership, ['workspaceId', 'userId'], ['workspaceId', 'userId'], { onDelete: 'CASCADE' })
export class Secret {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  @Column('text') scope: SecretScope;
  /** Of the scope `project` alone. */
  @ForeignKey(() => Project, { onDelete: 'CASCADE' })
  @Column('uuid', { nullable: true })
  projectId: string | null;
  /** Whose own it is, of the scope `user` alone. */
  @Column('uuid', { nullable: true }) userId: string | null;
  @Column('text') name: string;
  @Column('text', { nullable: true }) description: string | null;
  /** The variable that has the placeholder inside of the sandbox. */
  @Column('text') env: string;
  @Column('jsonb') bindings: Binding[];
  /** Sealed (`Sealing`). */
  @Sealed(ownerOfValue, 'id') @Column('bytea') value: Buffer;
  /** One more with each change of the value or the bindings: who has used an older one asks anew. */
  @Column('int', { default: 1 }) version: number;
  @Timestamp({ nullable: true }) usedAt: Date | null;
  @ForeignKey(() => User)
  @Column('uuid')
  createdBy: string;
  @CreatedAt() createdAt: Date;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
}
