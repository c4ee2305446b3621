import { Check, Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { CreatedAt } from '../../platform/database/columns.js';
import type { Role } from '../auth/auth-context.js';
import { User } from './user.entity.js';
import { Workspace } from './workspace.entity.js';

/** That a user belongs to a workspace, and as what. Keys hang on it: with the membership all of them end, for good. */
@Entity('memberships')
@Check('memberships_before_rule_check', `before_rule IN ('none', 'admin', 'member', 'viewer')`)
@Check('memberships_role_check', `role IN ('owner', 'admin', 'member', 'viewer')`)
export class Membership {
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  workspaceId: string;
  @ForeignKey(() => User, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  userId: string;
  @Column('text') role: Role;
  /**
   * What the person would be without a rule of `signIn` (reference §31), which has made or raised this membership. Null: the role was given by
   * the operator or by an owner or admin, and no rule takes anything of it away.
   */
  @Column('text', { nullable: true }) beforeRule: 'none' | Exclude<Role, 'owner'> | null;
  @CreatedAt() createdAt: Date;
}
