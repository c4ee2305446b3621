// The partitions of `audit_log`, one for each month (docs/decisions/0040). Functions, because the names of tables are made here, and because
// an operator who brings old rows back calls `make_audit_months` too (docs/operating.md).
import { LOCKS } from '../../platform/database/locks.js';

/** For rows of a month that has no partition, which a clock that jumps may bring: an act never fails for want of one. */
export const MAKE_AUDIT_DEFAULT = `
CREATE OR REPLACE FUNCTION make_audit_default() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE audit_log_default PARTITION OF audit_log DEFAULT;
  CREATE TRIGGER keep_audit_table BEFORE TRUNCATE ON audit_log_default EXECUTE FUNCTION keep_audit_table();
END $$;
`;

/**
 * Makes the partitions of the months (UTC) from a time on, those of the next two months included: `MAKE_MONTHS` (chain.sql.ts) calls it. A
 * month whose rows have come to the default partition stays there. A partition is attached, so that nobody who writes waits for more
 * than a moment.
 */
export const MAKE_AUDIT_MONTHS = `
CREATE OR REPLACE FUNCTION make_audit_months(since timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  month timestamp;
  name text;
  first text;
  past text;
  taken boolean;
BEGIN
  PERFORM pg_advisory_xact_lock(${LOCKS.auditMonths});
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
`;

/**
 * Drops the first of the months that were over so many days ago, and writes the seals on which the chains go on to `audit_cuts`: `DROP_MONTHS`
 * (chain.sql.ts) calls it. A month with a row that is not sealed waits. Answers the name of the dropped partition, or nothing. One in
 * a transaction: the whole table is locked from the drop to the commit, and all writes wait for it.
 */
export const DROP_AUDIT_MONTHS = `
CREATE OR REPLACE FUNCTION drop_audit_months(days int) RETURNS SETOF text LANGUAGE plpgsql AS $$
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
