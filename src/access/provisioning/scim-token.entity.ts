import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CreatedAt, Id } from '../../platform/database/columns.js';
import { Workspace } from '../workspaces/workspace.entity.js';

/** What a company's directory sends with its requests to a workspace (reference §37). Nothing but its digest is kept. */
@Entity('scim_tokens')
export class ScimToken {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Index('scim_tokens_workspace')
  @Column('uuid')
  workspaceId: string;
  /** HMAC-SHA256 under the pepper of keys. */
  @Index('scim_tokens_digest', { unique: true })
  @Column('bytea')
  digest: Buffer;
  /** The first characters, for a list. */
  @Column('text') prefix: string;
  @CreatedAt() createdAt: Date;
}
