import { Check, Column, Entity, ForeignKey, Index, Unique } from 'typeorm';
import { CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import type { Scope } from '../../platform/http/endpoint.js';
import { Membership } from '../workspaces/membership.entity.js';

/** A credential (reference §3). It ends with its membership; adding the member again revives none. */
@Entity('api_keys')
@Unique(['digest'])
@Check('api_keys_invitation_check', `invitation IN ('open', 'used')`)
@Index('api_keys_session', ['expiresAt'], { where: 'session' })
@Index('api_keys_member', ['workspaceId', 'userId'])
@ForeignKey(() => Membership, ['workspaceId', 'userId'], ['workspaceId', 'userId'], { onDelete: 'CASCADE' })
export class ApiKey {
  @Id() id: string;
  @Column('uuid') workspaceId: string;
  @Column('uuid') userId: string;
  @Column('text') name: string;
  /** The kind of the key and six characters of it: all that is ever shown again. */
  @Column('text') prefix: string;
  /** HMAC-SHA256 of the key under a pepper. */
  @Column('bytea') digest: Buffer;
  @Column('text', { array: true }) scopes: Scope[];
  @CreatedAt() createdAt: Date;
  @Timestamp({ nullable: true }) expiresAt: Date | null;
  @Timestamp({ nullable: true }) revokedAt: Date | null;
  /** The last request with the key, to the minute. */
  @Timestamp({ nullable: true }) lastUsedAt: Date | null;
  /**
   * Of a key whose secret nobody has, behind a link for a member who has no other one: `open` until somebody logs in by it, then `used`,
   * until that session ends. Null for every other key.
   */
  @Column('text', { nullable: true }) invitation: 'open' | 'used' | null;
  /** The key of one session of the console that a provider has signed in (reference §31). Nobody has its secret, and no list shows it. */
  @Column('boolean', { default: false }) session: boolean;
}
