import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { MAY_CLAIM } from '../../work/runs/may-claim.function.js';

/** Running tasks per workspace are capped, and workspaces get their turns fairly (docs/decisions/0014). */
export class Claims1764547200007 extends ForwardMigration {
  readonly sql = [SQL, MAY_CLAIM];
}

const SQL = `
-- A run that goes on with a turn stands before those that begin one; else first in, first out.
CREATE INDEX runs_waiting ON runs (workspace_id, (kind = 'turn' AND epoch = 0), created_at, id) WHERE status = 'queued';
CREATE INDEX runs_running ON runs (workspace_id) WHERE status = 'running';

-- When a workspace last asked for a place that seemed free. Its row is also the lock under which places are given.
CREATE TABLE workspace_claims (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
  claimed_at timestamptz NOT NULL
) WITH (fillfactor = 50);
`;
