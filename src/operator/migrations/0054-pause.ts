import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Tasks that are paused, or wait for what blocks them (reference §5, docs/decisions/0090). A later migration takes the triggers that tell of it. */
export class Pause1798244200054 extends ForwardMigration {
  readonly sql = SQL;
}

const SQL = `
ALTER TABLE tasks ADD COLUMN paused boolean NOT NULL DEFAULT false, ADD COLUMN resumes_at timestamptz(3), ADD COLUMN blocked jsonb,
  ADD COLUMN when_blocked text NOT NULL DEFAULT 'fail' CONSTRAINT tasks_when_blocked_check CHECK (when_blocked IN ('fail', 'wait'));
ALTER TABLE automations ADD COLUMN when_blocked text NOT NULL DEFAULT 'fail'
  CONSTRAINT automations_when_blocked_check CHECK (when_blocked IN ('fail', 'wait'));
CREATE INDEX tasks_resuming ON tasks (resumes_at, id) WHERE resumes_at IS NOT NULL;

-- A paused run has a status of its own: a look for work and a claim never meet it.
ALTER TABLE runs DROP CONSTRAINT runs_status_check;
ALTER TABLE runs ADD CONSTRAINT runs_status_check CHECK (status IN ('queued', 'paused', 'running', 'finished', 'cancelled'));
DROP INDEX runs_one_open;
CREATE UNIQUE INDEX runs_one_open ON runs (task_id) WHERE status IN ('queued', 'paused', 'running');
CREATE INDEX runs_paused ON runs (workspace_id) WHERE status = 'paused';
`;
