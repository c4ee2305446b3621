import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** A member who has no key yet is let in by a link (reference §3): the key behind it says so. */
export class Invitations1798244000052 extends ForwardMigration {
  readonly sql = [
    `ALTER TABLE api_keys ADD COLUMN invitation text
     CONSTRAINT api_keys_invitation_check CHECK (invitation IN ('open', 'used'))`,
  ];
}
