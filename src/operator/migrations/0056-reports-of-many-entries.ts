import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { ADD_LATE_USAGE } from '../../resources/billing/add-late-usage.function.js';

/** What long audit logs are filtered by, and sums of the days of long ledgers (reference §14, docs/decisions/0089). */
export class ReportsOfManyEntries1798244400056 extends ForwardMigration {
  readonly sql = [AUDIT, SUMS, ADD_LATE_USAGE];
}

const AUDIT = `
CREATE INDEX audit_log_actor ON audit_log (workspace_id, actor_id, at, id);
CREATE INDEX audit_log_action ON audit_log (workspace_id, action, at, id);
`;

// A chore adds up the days that there are: the migration does not wait for it.
const SUMS = `
CREATE TABLE usage_sums (
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  day date NOT NULL,
  model text NOT NULL,
  -- The nil UUID for none. No foreign keys: as in the ledger.
  project_id uuid NOT NULL,
  automation_id uuid NOT NULL,
  created_by uuid NOT NULL,
  tasks bigint NOT NULL,
  steps bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  -- Millionths of a US dollar; null when no call was of a model with prices.
  cost_micros bigint,
  PRIMARY KEY (workspace_id, day, model, project_id, automation_id, created_by)
);

-- The first day of a workspace that is not added up.
CREATE TABLE usage_closed (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
  until date NOT NULL
);
`;
