import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { Sealed } from '../../platform/database/sealed.js';

/** As whose a secret is sealed. */
export const ownerOf = (connectionId: string): string => `connection ${connectionId}`;

/** A workspace's, or a user's own, connection to a provider whose deliveries it takes (reference §13). */
@Entity('connections')
// (workspace_id, slug, user_id) NULLS NOT DISTINCT: TypeORM describes no such index.
@Index('connections_one', { synchronize: false })
export class Connection {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  /** Whose own connection it is; null for the workspace's. */
  @ForeignKey(() => User, { onDelete: 'CASCADE' })
  @Column('uuid', { nullable: true })
  userId: string | null;
  /** The name of the provider. */
  @Column('text') slug: string;
  /** Sealed (`Sealing`), as the previous one, which is taken until its time is over. */
  @Sealed(ownerOf, 'id') @Column('bytea') secret: Buffer;
  @Sealed(ownerOf, 'id') @Column('bytea', { nullable: true }) previousSecret: Buffer | null;
  @Timestamp({ nullable: true }) previousSecretUntil: Date | null;
  @CreatedAt() createdAt: Date;
}
