import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Background work (docs/decisions/0033). */
export class Jobs1795824000017 extends ForwardMigration {
  readonly sql = `
-- One that is done is deleted.
CREATE TABLE jobs (
  id uuid PRIMARY KEY,
  queue text NOT NULL,
  share text NOT NULL DEFAULT '',
  key text,
  data jsonb NOT NULL,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'failed')),
  epoch int NOT NULL DEFAULT 0,
  attempts int NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz,
  last_error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  failed_at timestamptz
);
CREATE INDEX jobs_due ON jobs (queue, share, due_at, id) WHERE status = 'queued';
CREATE INDEX jobs_leases ON jobs (lease_until) WHERE status = 'running';
CREATE INDEX jobs_failed ON jobs (failed_at) WHERE status = 'failed';
CREATE UNIQUE INDEX jobs_one_open ON jobs (queue, key) WHERE key IS NOT NULL AND status <> 'failed';
`;
}
