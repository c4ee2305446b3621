import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { CreatedAt, Id } from '../../platform/database/columns.js';
import { Sealed } from '../../platform/database/sealed.js';

export const CONNECTION_KINDS = ['token', 'github_app'] as const;
export type ConnectionKind = (typeof CONNECTION_KINDS)[number];
export const CONNECTION_STATUSES = ['ready', 'failed'] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/** As whose a credential is sealed. */
export const ownerOf = (connectionId: string): string => `repository connection ${connectionId}`;

/** What a workspace reads and writes the repositories of a host with (reference §15). */
@Entity('repository_connections')
@Index('repository_connections_page', ['workspaceId', 'createdAt', 'id'])
@Check('repository_connections_kind_check', `kind IN ('token', 'github_app')`)
@Check('repository_connections_hosting_check', `hosting IN ('github', 'gitlab')`)
@Check('repository_connections_status_check', `status IN ('ready', 'failed')`)
@Check('repository_connections_check', `status = 'ready' OR last_error IS NOT NULL`)
export class RepositoryConnection {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  /** `github.com`, or with a port. */
  @Column('text') host: string;
  /** What serves the host. */
  @Column('text') hosting: 'github' | 'gitlab';
  /** The address of its API; null: where such a host has it. */
  @Column('text', { nullable: true }) api: string | null;
  @Column('text') kind: ConnectionKind;
  /** The JSON of a `Credential`, sealed (`Sealing`). */
  @Sealed(ownerOf, 'id') @Column('bytea') secret: Buffer;
  /** Who the credential is at the host; null until that was asked. */
  @Column('text', { nullable: true }) account: string | null;
  @Column('text', { array: true }) paths: string[];
  @Column('text', { array: true }) push: string[];
  @Column('text', { default: 'ready' }) status: ConnectionStatus;
  /** Why the host did not take the credential, for people. */
  @Column('text', { nullable: true }) lastError: string | null;
  @ForeignKey(() => User)
  @Column('uuid')
  createdBy: string;
  @CreatedAt() createdAt: Date;
}
