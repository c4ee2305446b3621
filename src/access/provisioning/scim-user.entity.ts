import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { User } from '../workspaces/user.entity.js';
import { Workspace } from '../workspaces/workspace.entity.js';

/**
 * A person as a company's directory describes it to a workspace (reference §37). Whether it is active is no column: it is, while the account
 * is a member.
 */
@Entity('scim_users')
@Index('scim_users_account', ['workspaceId', 'userId'], { unique: true })
// On lower(user_name), and on external_id: TypeORM describes no expressions.
@Index('scim_users_name', { synchronize: false })
export class ScimUser {
  /** The directory knows the person by it. */
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  /** The account. */
  @ForeignKey(() => User, { onDelete: 'CASCADE' })
  @Index('scim_users_user')
  @Column('uuid')
  userId: string;
  @Column('text') userName: string;
  @Column('text', { nullable: true }) externalId: string | null;
  /** What else the directory has told, in the form of RFC 7643. */
  @Column('jsonb') told: object;
  /** Since when the account is a member by the directory's making: the time when that membership began, which a later one has not. */
  @Timestamp({ nullable: true }) memberSince: Date | null;
  @CreatedAt() createdAt: Date;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
}
