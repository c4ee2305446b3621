import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Who pays by a payment provider, and what came of it (reference §14). */
export class Payments1798334400095 extends ForwardMigration {
  readonly sql = `
-- No foreign key: a subscription must end after its workspace.
CREATE TABLE payment_customers (
  workspace_id uuid PRIMARY KEY,
  customer_id text NOT NULL UNIQUE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  look bigint NOT NULL DEFAULT 0,
  late_since timestamptz(3),
  compared_at timestamptz(3)
);
CREATE INDEX payment_customers_late ON payment_customers (late_since) WHERE late_since IS NOT NULL;

-- Amounts are millionths of a US dollar.
CREATE TABLE payments (
  id text PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  look bigint NOT NULL DEFAULT 0,
  paid_micros bigint NOT NULL DEFAULT 0,
  back_micros bigint NOT NULL DEFAULT 0,
  taken_micros bigint NOT NULL DEFAULT 0
);
CREATE INDEX payments_of_workspace ON payments (workspace_id);

CREATE TABLE payment_contact (
  one boolean PRIMARY KEY DEFAULT true CONSTRAINT payment_contact_check CHECK (one),
  answered_at timestamptz(3) NOT NULL,
  back_at timestamptz(3)
);
`;
}
