import { Column, Entity, PrimaryColumn } from 'typeorm';
import { Sealed } from '../database/sealed.js';

/** As whose a key is sealed. */
export const ownerOfKey = (purpose: string): string => `key ${purpose}`;

/** A key that stays what it is under every `SECRET_KEY`; the first `secret-key rotate` writes them (docs/decisions/0097). */
@Entity('lasting_keys')
export class LastingKey {
  @PrimaryColumn('text') purpose: string;
  /** Base64url of 32 bytes, sealed. */
  @Sealed(ownerOfKey, 'purpose') @Column('bytea') key: Buffer;
}
