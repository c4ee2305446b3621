import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CreatedAt } from '../../platform/database/columns.js';
import { User } from '../workspaces/user.entity.js';

/** As whom a provider knows a person (reference §31): its issuer and its own name for the person, which it never gives to another one. */
@Entity('sign_in_identities')
@Index('sign_in_identities_user', ['userId'])
export class SignInIdentity {
  @PrimaryColumn('text') issuer: string;
  @PrimaryColumn('text') subject: string;
  @ForeignKey(() => User, { onDelete: 'CASCADE' })
  @Column('uuid')
  userId: string;
  /** Whether the account began with this sign-in; else the operator or a workspace had made it, and it was linked by its address. */
  @Column('boolean') madeAccount: boolean;
  @CreatedAt() createdAt: Date;
}
