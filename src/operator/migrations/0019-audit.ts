import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit log (reference §14, docs/decisions/0040). */
export class Audit1795824100019 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(TABLES);
    await db.query(KEEPING);
    await db.query(MONTHS);
    await db.query(`SELECT make_audit_default(), make_audit_months(now())`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
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

const KEEPING = `
-- A row changes once, when it is sealed, and goes with its month, or with its workspace.
CREATE FUNCTION keep_audit_row() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER keep_audit_row BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION keep_audit_row();

CREATE FUNCTION keep_audit_table() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The audit log is append-only: it is not emptied.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_audit_table BEFORE TRUNCATE ON audit_log EXECUTE FUNCTION keep_audit_table();
`;

const MONTHS = `
-- For rows of a month that has no partition, which a clock that jumps may bring: an act never fails for want of one.
CREATE FUNCTION make_audit_default() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE audit_log_default PARTITION OF audit_log DEFAULT;
  CREATE TRIGGER keep_audit_table BEFORE TRUNCATE ON audit_log_default EXECUTE FUNCTION keep_audit_table();
END $$;

-- Makes the partitions of the months (UTC) from this time on, those of the next two months included. A month whose rows have come
-- to the default partition stays there. A partition is attached, so that nobody who writes waits for more than a moment.
CREATE FUNCTION make_audit_months(since timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  month timestamp;
  name text;
  first text;
  past text;
  taken boolean;
BEGIN
  PERFORM pg_advisory_xact_lock(7163005);
  FOR month IN SELECT generate_series(
    date_trunc('month', since AT TIME ZONE 'UTC'), (now() AT TIME ZONE 'UTC') + interval '2 months', interval '1 month')
  LOOP
    name := 'audit_log_' || to_char(month, 'YYYY_MM');
    first := to_char(month, 'YYYY-MM-DD') || ' 00:00:00+00';
    past := to_char(month + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00';
    SELECT to_regclass(name) IS NOT NULL OR EXISTS (
      SELECT FROM audit_log_default WHERE at >= first::timestamptz AND at < past::timestamptz) INTO taken;
    CONTINUE WHEN taken;
    EXECUTE format('CREATE TABLE %I (LIKE audit_log INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name);
    EXECUTE format('CREATE TRIGGER keep_audit_table BEFORE TRUNCATE ON %I EXECUTE FUNCTION keep_audit_table()', name);
    EXECUTE format('ALTER TABLE audit_log ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, first, past);
  END LOOP;
END $$;

-- Drops the first of the months that were over so many days ago, and keeps the seals on which the chains go on. A month with a row that
-- is not sealed waits. Answers the name of the dropped partition, or nothing. One in a transaction: the whole table is locked from the
-- drop to the commit, and all writes wait for it.
CREATE FUNCTION drop_audit_months(days int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  name text;
  over timestamptz;
  unsealed boolean;
BEGIN
  FOR name IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'audit_log'::regclass ORDER BY c.relname
  LOOP
    IF name = 'audit_log_default' THEN
      SELECT max(at) FROM audit_log_default INTO over;
    ELSE
      over := (to_date(right(name, 7), 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC';
    END IF;
    CONTINUE WHEN over IS NULL OR over > now() - make_interval(days => days);
    EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE hash IS NULL)', name) INTO unsealed;
    CONTINUE WHEN unsealed;
    EXECUTE format('INSERT INTO audit_cuts SELECT p.workspace_id, p.seq, p.hash FROM %1$I p WHERE NOT EXISTS (
      SELECT FROM %1$I n WHERE n.workspace_id = p.workspace_id AND n.seq = p.seq + 1)', name);
    EXECUTE format('DROP TABLE %I', name);
    IF name = 'audit_log_default' THEN
      PERFORM make_audit_default();
    END IF;
    RETURN NEXT name;
    RETURN;
  END LOOP;
END $$;
`;
