import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What tasks did with secrets (reference §24). */
export class SecretUses1798245100063 extends ForwardMigration {
  readonly sql = `
CREATE TABLE secret_uses (
  task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  secret_id uuid NOT NULL,
  host text NOT NULL,
  name text NOT NULL,
  requests bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  masked bigint NOT NULL DEFAULT 0,
  first_at timestamptz(3) NOT NULL,
  last_at timestamptz(3) NOT NULL,
  PRIMARY KEY (task_id, secret_id, host)
);
`;
}
