import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CreatedAt } from '../../platform/database/columns.js';
import { User } from '../workspaces/user.entity.js';
import { Workspace } from '../workspaces/workspace.entity.js';

/** An Idempotency-Key that was used, with the answer that it gets again (reference §8). */
@Entity('idempotency_keys')
// On coalesce(location, path), what the answer is about: TypeORM describes no expressions.
@Index('idempotency_keys_object', { synchronize: false })
@Index('idempotency_keys_expiry', ['expiresAt'])
export class IdempotencyRecord {
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  workspaceId: string;
  @ForeignKey(() => User, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  userId: string;
  @PrimaryColumn('text') method: string;
  /** Concrete and canonical: `/v1/tasks`. */
  @PrimaryColumn('text') path: string;
  @PrimaryColumn('text') key: string;
  /** SHA-256 of the canonical form of the request's JSON. */
  @Column('bytea') fingerprint: Buffer;
  /** Status, body and `Location` of the answer. Null until the request commits: nobody else ever sees them null. */
  @Column('int', { nullable: true }) status: number | null;
  @Column('text', { nullable: true }) body: string | null;
  @Column('text', { nullable: true }) location: string | null;
  @CreatedAt() createdAt: Date;
  @Column('timestamptz') expiresAt: Date;
}
