/**
 * Whether a workspace may have one more running run: `CLAIM` (run-claims.sql.ts) asks it. It writes the workspace's row of `workspace_claims`,
 * which is held until the transaction ends. The first count spares a full workspace the lock.
 *
 * A function, and VOLATILE, because each statement in it sees what was committed before that statement: a count in the statement that waits
 * for the lock would still see the time before the wait (docs/decisions/0014).
 */
export const MAY_CLAIM = `
CREATE OR REPLACE FUNCTION may_claim(workspace uuid, cap int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF (SELECT count(*) FROM runs WHERE workspace_id = workspace AND status = 'running') >= cap THEN
    RETURN false;
  END IF;
  INSERT INTO workspace_claims VALUES (workspace, clock_timestamp())
  ON CONFLICT (workspace_id) DO UPDATE SET claimed_at = excluded.claimed_at;
  RETURN (SELECT count(*) FROM runs WHERE workspace_id = workspace AND status = 'running') < cap;
END $$;
`;
