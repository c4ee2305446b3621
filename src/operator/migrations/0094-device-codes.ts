import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** The command of clients is let in by a person who is signed in to the console (reference §31). */
export class DeviceCodes1798334300094 extends ForwardMigration {
  readonly sql = `
CREATE TABLE device_codes (
  hash bytea PRIMARY KEY,
  user_hash bytea NOT NULL UNIQUE,
  address text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  interval_seconds int NOT NULL,
  asked_at timestamptz(3),
  denied boolean NOT NULL DEFAULT false,
  key_id uuid REFERENCES api_keys ON DELETE CASCADE
);
CREATE INDEX device_codes_expiry ON device_codes (expires_at);
CREATE INDEX device_codes_key ON device_codes (key_id);

ALTER TABLE console_sessions ADD COLUMN wrong_codes int NOT NULL DEFAULT 0;
ALTER TABLE console_sessions ADD COLUMN wrong_since timestamptz(3);
`;
}
