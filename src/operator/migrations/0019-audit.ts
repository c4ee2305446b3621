import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { DROP_AUDIT_MONTHS, MAKE_AUDIT_DEFAULT, MAKE_AUDIT_MONTHS } from '../../access/audit/audit-months.function.js';
import { KEEP_AUDIT_ROW, KEEP_AUDIT_TABLE } from '../../access/audit/keep-audit.function.js';

/** The audit log (reference §14, docs/decisions/0040). */
export class Audit1795824100019 extends ForwardMigration {
  readonly sql = [
    TABLES,
    KEEP_AUDIT_ROW + KEEP_AUDIT_TABLE,
    MAKE_AUDIT_DEFAULT + MAKE_AUDIT_MONTHS + DROP_AUDIT_MONTHS,
    `SELECT make_audit_default(), make_audit_months(now())`,
  ];
}

const TABLES = `
-- Who did what, or was refused what. A row is written in the transaction of the act, and sealed later. No foreign keys: the row
-- outlives what it tells of. The nil UUID as workspace stands for the installation itself: its accounts, deleted workspaces.
CREATE TABLE audit_log (
  workspace_id uuid NOT NULL,
  -- By the clock of the database. It decides about the partition.
  at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  id uuid NOT NULL,
  -- pg_current_xact_id() of the transaction that writes the row. Rows are sealed in the order (xid, id).
  xid bigint NOT NULL,
  -- Null: the operator.
  actor_id uuid,
  key_id uuid,
  address text,
  action text NOT NULL,
  target_type text,
  target_id text,
  outcome text NOT NULL CHECK (outcome IN ('done', 'refused')),
  -- Of a refusal: the code of the error.
  code text,
  request_id uuid,
  -- More than one: so many refusals of one key that had no row of their own.
  count int NOT NULL DEFAULT 1,
  -- The place in the chain of the workspace, and the seal; both null until the row is sealed.
  seq bigint,
  hash bytea,
  PRIMARY KEY (workspace_id, at, id),
  CHECK ((target_type IS NULL) = (target_id IS NULL)),
  CHECK ((seq IS NULL) = (hash IS NULL))
) PARTITION BY RANGE (at);
CREATE INDEX audit_log_unsealed ON audit_log (xid, id) WHERE hash IS NULL;
CREATE INDEX audit_log_chain ON audit_log (workspace_id, seq) WHERE seq IS NOT NULL;

-- The end of each chain: the row that was sealed last.
CREATE TABLE audit_chains (
  workspace_id uuid PRIMARY KEY,
  seq bigint NOT NULL,
  hash bytea NOT NULL
);

-- The seals on which the chains go on where months were dropped: of each dropped row whose successor was not dropped with it.
CREATE TABLE audit_cuts (
  workspace_id uuid NOT NULL,
  seq bigint NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (workspace_id, seq)
);
`;
