import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many bytes each workspace stores, counted by the database itself (docs/decisions/0028). */
export class StorageUsage1795651200014 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(SQL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}

const SQL = `
-- A row for each workspace, which is also the lock under which bytes are let in.
CREATE TABLE storage_usage (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
  -- The bytes that uploads and files point at, equal ones once, as the storage keeps them.
  stored_bytes bigint NOT NULL DEFAULT 0,
  -- The sum of tasks.workdir_bytes.
  workdir_bytes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- As last measured at the end of a command.
ALTER TABLE tasks ADD COLUMN workdir_bytes bigint NOT NULL DEFAULT 0;

CREATE FUNCTION open_storage_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO storage_usage (workspace_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER open_storage_usage AFTER INSERT ON workspaces FOR EACH ROW EXECUTE FUNCTION open_storage_usage();

-- Counts bytes to which the first row points, or the last one no longer does. Triggers, because rows go in many ways, some of
-- them cascades. The counter is locked first, in the order of workspaces: each statement that follows sees what others have
-- committed before they let the lock go, so of two transactions that delete the last two rows of the same bytes the second one
-- finds none left.
CREATE FUNCTION count_stored_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER count_bytes_in AFTER INSERT ON uploads
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stored_bytes();
CREATE TRIGGER count_bytes_out AFTER DELETE ON uploads
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stored_bytes();
CREATE TRIGGER count_bytes_in AFTER INSERT ON files
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stored_bytes();
CREATE TRIGGER count_bytes_out AFTER DELETE ON files
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stored_bytes();

-- The workdir of a deleted task is removed a moment later; its bytes are free from here on.
CREATE FUNCTION count_workdir_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE storage_usage
  SET workdir_bytes = workdir_bytes - OLD.workdir_bytes + CASE TG_OP WHEN 'UPDATE' THEN NEW.workdir_bytes ELSE 0 END
  WHERE workspace_id = OLD.workspace_id;
  RETURN NULL;
END $$;
CREATE TRIGGER count_workdir_change AFTER UPDATE OF workdir_bytes ON tasks FOR EACH ROW
  WHEN (OLD.workdir_bytes <> NEW.workdir_bytes) EXECUTE FUNCTION count_workdir_bytes();
CREATE TRIGGER count_workdir_end AFTER DELETE ON tasks FOR EACH ROW
  WHEN (OLD.workdir_bytes <> 0) EXECUTE FUNCTION count_workdir_bytes();

-- The triggers keep writers out until the end of this migration, so nothing is counted twice or not at all. Workdirs are
-- measured when a command next ends in them.
INSERT INTO storage_usage (workspace_id, stored_bytes)
SELECT w.id, coalesce((
  SELECT sum(size) FROM (
    SELECT sha256, size FROM uploads WHERE workspace_id = w.id UNION SELECT sha256, size FROM files WHERE workspace_id = w.id) one), 0)
FROM workspaces w;
`;
