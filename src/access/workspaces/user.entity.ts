import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { Workspace } from './workspace.entity.js';

/** A person, or a service account: a user without an address, of one workspace (reference §3). */
@Entity('users')
// On lower(email), and on lower(name) of the accounts that have not ended: TypeORM describes no expressions.
@Index('users_email', { synchronize: false })
@Index('users_service_name', { synchronize: false })
@Check(
  'users_kind',
  `kind = 'person' AND (email IS NULL) = (deleted_at IS NOT NULL) AND service_of IS NULL OR
   kind = 'service' AND email IS NULL AND deleted_at IS NULL AND service_of IS NOT NULL`,
)
export class User {
  @Id() id: string;
  /** Null for a service account, and after the deletion of a person's account. */
  @Column('text', { nullable: true }) email: string | null;
  @Column('text') name: string;
  @CreatedAt() createdAt: Date;
  @Column('text', { default: 'person' }) kind: 'person' | 'service';
  /** The workspace of a service account. */
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid', { nullable: true })
  serviceOf: string | null;
  /** When a service account was deleted. Its name is free then; what it did keeps its author. */
  @Timestamp({ nullable: true }) serviceEndedAt: Date | null;
  @Column('timestamptz', { nullable: true }) deletedAt: Date | null;
}
