// Who keeps `storage_usage` (storage-usage.entity.ts). Triggers, because rows go in many ways, some of them cascades: one that the program
// forgets were a drift for ever (docs/decisions/0028).

/** Makes the counter of a new workspace. */
export const OPEN_STORAGE_USAGE = `
CREATE OR REPLACE FUNCTION open_storage_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO storage_usage (workspace_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER open_storage_usage AFTER INSERT ON workspaces FOR EACH ROW EXECUTE FUNCTION open_storage_usage();
`;

/**
 * Counts bytes to which the first upload or file points, or the last one no longer does. The counter is locked first, in the order of
 * workspaces: each statement that follows sees what others have committed before they let the lock go, so of two transactions that
 * delete the last two rows of the same bytes the second one finds none left.
 */
export const COUNT_STORED_BYTES = `
CREATE OR REPLACE FUNCTION count_stored_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND TG_TABLE_NAME = 'files' THEN
    -- An attachment is made of an upload, whose bytes are counted, and which the same transaction keeps from being deleted. So
    -- the creation of a task waits for no counter.
    IF NOT EXISTS (SELECT FROM changed WHERE origin <> 'attachment') THEN
      RETURN NULL;
    END IF;
  END IF;
  PERFORM 1 FROM storage_usage WHERE workspace_id IN (SELECT workspace_id FROM changed) ORDER BY workspace_id FOR NO KEY UPDATE;
  UPDATE storage_usage s
  SET stored_bytes = s.stored_bytes + CASE TG_OP WHEN 'INSERT' THEN counted.bytes ELSE -counted.bytes END
  FROM (
    SELECT c.workspace_id, sum(c.size)::bigint AS bytes
    FROM (SELECT DISTINCT workspace_id, sha256, size FROM changed) c
    WHERE NOT EXISTS (
        SELECT FROM uploads u
        WHERE u.workspace_id = c.workspace_id AND u.sha256 = c.sha256 AND u.id NOT IN (SELECT id FROM changed))
      AND NOT EXISTS (
        SELECT FROM files f
        WHERE f.workspace_id = c.workspace_id AND f.sha256 = c.sha256 AND f.id NOT IN (SELECT id FROM changed))
    GROUP BY c.workspace_id) counted
  WHERE s.workspace_id = counted.workspace_id;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER count_bytes_in AFTER INSERT ON uploads
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stored_bytes();
CREATE OR REPLACE TRIGGER count_bytes_out AFTER DELETE ON uploads
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stored_bytes();
CREATE OR REPLACE TRIGGER count_bytes_in AFTER INSERT ON files
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stored_bytes();
CREATE OR REPLACE TRIGGER count_bytes_out AFTER DELETE ON files
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stored_bytes();
`;

/** Counts `tasks.workdir_bytes`. The workdir of a deleted task is removed a moment later; its bytes are free from here on. */
export const COUNT_WORKDIR_BYTES = `
CREATE OR REPLACE FUNCTION count_workdir_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE storage_usage
  SET workdir_bytes = workdir_bytes - OLD.workdir_bytes + CASE TG_OP WHEN 'UPDATE' THEN NEW.workdir_bytes ELSE 0 END
  WHERE workspace_id = OLD.workspace_id;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER count_workdir_change AFTER UPDATE OF workdir_bytes ON tasks FOR EACH ROW
  WHEN (OLD.workdir_bytes <> NEW.workdir_bytes) EXECUTE FUNCTION count_workdir_bytes();
CREATE OR REPLACE TRIGGER count_workdir_end AFTER DELETE ON tasks FOR EACH ROW
  WHEN (OLD.workdir_bytes <> 0) EXECUTE FUNCTION count_workdir_bytes();
`;
