// Who keeps `audit_log` append-only (docs/decisions/0040): triggers, so that no statement of anybody can change it.

/** Refuses every change of a row but one: it is sealed, or goes with its workspace. Its month goes by `drop_audit_months`. */
export const KEEP_AUDIT_ROW = `
CREATE OR REPLACE FUNCTION keep_audit_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.hash IS NULL AND NEW.hash IS NOT NULL
      AND to_jsonb(NEW) - '{seq,hash}'::text[] = to_jsonb(OLD) - '{seq,hash}'::text[] THEN
      RETURN NEW;
    END IF;
  ELSIF OLD.workspace_id <> '00000000-0000-0000-0000-000000000000'
    AND NOT EXISTS (SELECT FROM workspaces w WHERE w.id = OLD.workspace_id) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'The audit log is append-only: a row is neither changed nor deleted.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE OR REPLACE TRIGGER keep_audit_row BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION keep_audit_row();
`;

/** Refuses TRUNCATE, of the table and of each partition (audit-months.function.ts). */
export const KEEP_AUDIT_TABLE = `
CREATE OR REPLACE FUNCTION keep_audit_table() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The audit log is append-only: it is not emptied.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE OR REPLACE TRIGGER keep_audit_table BEFORE TRUNCATE ON audit_log EXECUTE FUNCTION keep_audit_table();
`;
