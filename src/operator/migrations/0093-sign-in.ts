import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** People sign in by the company's own provider (reference §31, docs/decisions/0121). */
export class SignIn1798334200093 extends ForwardMigration {
  readonly sql = `
CREATE TABLE sign_in_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  made_account boolean NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX sign_in_identities_user ON sign_in_identities (user_id);

ALTER TABLE memberships ADD COLUMN before_rule text
  CONSTRAINT memberships_before_rule_check CHECK (before_rule IN ('none', 'admin', 'member', 'viewer'));

ALTER TABLE api_keys ADD COLUMN session boolean NOT NULL DEFAULT false;
CREATE INDEX api_keys_session ON api_keys (expires_at) WHERE session;

ALTER TABLE console_sessions ADD COLUMN id_token bytea;
`;
}
