import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Running tasks per workspace are capped, and workspaces get their turns fairly (docs/decisions/0014). */
export class Claims1764547200007 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(SQL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
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

-- Whether a workspace may have one more running run; the row is held until the transaction ends. A function, and
-- VOLATILE, because each statement in it sees what was committed before that statement: a count in the statement that
-- waits for the lock would still see the time before the wait. The first count spares a full workspace the lock.
CREATE FUNCTION may_claim(workspace uuid, cap int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF (SELECT count(*) FROM runs WHERE workspace_id = workspace AND status = 'running') >= cap THEN
    RETURN false;
  END IF;
  INSERT INTO workspace_claims VALUES (workspace, clock_timestamp())
  ON CONFLICT (workspace_id) DO UPDATE SET claimed_at = excluded.claimed_at;
  RETURN (SELECT count(*) FROM runs WHERE workspace_id = workspace AND status = 'running') < cap;
END $$;
`;
