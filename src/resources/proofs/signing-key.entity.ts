import { Column, Entity, PrimaryColumn } from 'typeorm';
import { CreatedAt } from '../../platform/database/columns.js';
import { Sealed } from '../../platform/database/sealed.js';

/** As whose a private half is sealed. */
export const ownerOfSigningKey = (generation: number | string): string => `signing key ${generation}`;

/** A key pair that proofs are signed with (Ed25519). The highest generation signs; the public halves of all stay (docs/decisions/0102). */
@Entity('signing_keys')
export class SigningKey {
  @PrimaryColumn('int') generation: number;
  /** Base64url of 32 bytes. */
  @Column('text') publicKey: string;
  /** Base64url of the 32 bytes that the private half is made of (RFC 8032), sealed. Null once the next one has begun. */
  @Sealed(ownerOfSigningKey, 'generation')
  @Column('bytea', { nullable: true })
  seed: Buffer | null;
  @CreatedAt() createdAt: Date;
}
