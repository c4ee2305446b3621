import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Log-ins to the console, and the codes that make one (reference §20, docs/decisions/0066). */
export class ConsoleSessions1797638400037 extends ForwardMigration {
  readonly sql = `
CREATE TABLE console_sessions (
  hash bytea PRIMARY KEY,
  key_id uuid NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX console_sessions_key ON console_sessions (key_id, expires_at);

CREATE TABLE console_codes (
  hash bytea PRIMARY KEY,
  key_id uuid NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX console_codes_key ON console_codes (key_id);
`;
}

// Neither holds what the browser sends: each hash is an HMAC of it.
