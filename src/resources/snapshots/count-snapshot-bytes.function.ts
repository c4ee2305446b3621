/**
 * Counts `storage_usage.snapshot_bytes`: the objects that at least one snapshot, or build of an environment, names, each once. The counter is locked first, as
 * by `count_stored_bytes`, so of two transactions that delete the last two uses of an object the second one finds none left.
 */
export const COUNT_SNAPSHOT_BYTES = `
CREATE OR REPLACE FUNCTION count_snapshot_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM storage_usage WHERE workspace_id IN (SELECT workspace_id FROM changed) ORDER BY workspace_id FOR NO KEY UPDATE;
  WITH counted AS (
    UPDATE snapshot_objects o SET unnamed_at = CASE TG_OP WHEN 'DELETE' THEN clock_timestamp() END
    FROM (SELECT DISTINCT workspace_id, object FROM changed) c
    WHERE o.workspace_id = c.workspace_id AND o.sha256 = c.object AND (o.unnamed_at IS NULL) = (TG_OP = 'DELETE')
      AND (TG_OP = 'INSERT' OR NOT EXISTS (
        SELECT FROM snapshot_uses u WHERE u.workspace_id = c.workspace_id AND u.object = c.object
        UNION ALL SELECT FROM environment_build_uses u WHERE u.workspace_id = c.workspace_id AND u.object = c.object))
    RETURNING o.workspace_id, o.bytes)
  UPDATE storage_usage s
  SET snapshot_bytes = s.snapshot_bytes + CASE TG_OP WHEN 'INSERT' THEN n.bytes ELSE -n.bytes END
  FROM (SELECT workspace_id, sum(bytes)::bigint AS bytes FROM counted GROUP BY workspace_id) n
  WHERE s.workspace_id = n.workspace_id;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER count_snapshot_bytes_in AFTER INSERT ON snapshot_uses
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_snapshot_bytes();
CREATE OR REPLACE TRIGGER count_snapshot_bytes_out AFTER DELETE ON snapshot_uses
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_snapshot_bytes();
`;

/** The same for the builds of environments. */
export const COUNT_BUILD_BYTES = `
CREATE OR REPLACE TRIGGER count_build_bytes_in AFTER INSERT ON environment_build_uses
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_snapshot_bytes();
CREATE OR REPLACE TRIGGER count_build_bytes_out AFTER DELETE ON environment_build_uses
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_snapshot_bytes();
`;
