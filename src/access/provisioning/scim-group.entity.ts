import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { Workspace } from '../workspaces/workspace.entity.js';
import { ScimUser } from './scim-user.entity.js';

/** A group of a company's directory (reference §37). Rules of `signIn.workspaces` name it by what it is called. */
@Entity('scim_groups')
// On lower(display_name): TypeORM describes no expressions.
@Index('scim_groups_name', { synchronize: false })
export class ScimGroup {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  @Column('text') displayName: string;
  @Column('text', { nullable: true }) externalId: string | null;
  @CreatedAt() createdAt: Date;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
}

/** That a person is in a group. */
@Entity('scim_group_members')
export class ScimGroupMember {
  @ForeignKey(() => ScimGroup, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  groupId: string;
  @ForeignKey(() => ScimUser, { onDelete: 'CASCADE' })
  @Index('scim_group_members_user')
  @PrimaryColumn('uuid')
  scimUserId: string;
}
