import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** The keys that proofs are signed with (reference §26). */
export class SigningKeys1798246100073 extends ForwardMigration {
  readonly sql = `
CREATE TABLE signing_keys (
  generation integer PRIMARY KEY,
  public_key text NOT NULL,
  seed bytea,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
`;
}
