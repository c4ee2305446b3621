// What a database holds, asked of PostgreSQL itself: tables of extensions are found as those of the service are.
import type { ClientBase } from 'pg';

/** A relation by its two names. */
export interface Name {
  schema: string;
  name: string;
}

export interface Table extends Name {
  /** Those that are stored, in the table's order. */
  columns: string[];
}

export interface Partition extends Name {
  parent: Name;
  /** `FOR VALUES FROM (…) TO (…)`, or `DEFAULT`. */
  bound: string;
  /** Statements that make the triggers that it has for itself. */
  triggers: string[];
}

export interface Sequence extends Name {
  /** The number that was given last; null when none was. A bigint, hence text. */
  value: string | null;
}

// What PostgreSQL makes of bounds and triggers, and a restore carries out. A manifest may come from somebody else: a bound has literals
// alone, and neither has room for a second statement or for the call of another function.
const LITERAL = `'(?:[^']|'')*'`;
export const BOUND = new RegExp(
  String.raw`^(?:DEFAULT|FOR VALUES (?:FROM|TO|IN|WITH|MINVALUE|MAXVALUE|NULL|true|false|modulus|remainder|\d[\d.eE+-]*|${LITERAL}|[ (),])+)$`,
);
export const TRIGGER = new RegExp(
  String.raw`^CREATE (?:CONSTRAINT )?TRIGGER [^;()]+ EXECUTE FUNCTION [^;()]+\((?:${LITERAL}(?:, )?)*\)$`,
);

/** `"public"."tasks"`, for statements. */
export const quoted = ({ schema, name }: Name): string => [schema, name].map(identifier).join('.');
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
/** `public.tasks`, for people. */
export const spoken = ({ schema, name }: Name): string => `${schema}.${name}`;

/** Relations of the product: neither of PostgreSQL nor of one of its extensions, nor a session's own. */
const OURS = `
n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' AND c.relpersistence <> 't'
AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;
const RELATIONS = `pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace`;
const NAMES = `n.nspname AS schema, c.relname AS name`;

/** Tables with rows of their own: partitions are, the table that they are parts of is not. */
const TABLES = `
SELECT ${NAMES}, ARRAY(
  SELECT a.attname::text FROM pg_attribute a
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum) AS columns
FROM ${RELATIONS} WHERE c.relkind = 'r' AND ${OURS} ORDER BY 1, 2`;

const PARTITIONS = `
SELECT ${NAMES}, json_build_object('schema', pn.nspname, 'name', p.relname) AS parent, pg_get_expr(c.relpartbound, c.oid) AS bound,
  ARRAY(SELECT pg_get_triggerdef(g.oid) FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgparentid = 0
    ORDER BY g.tgname) AS triggers
FROM ${RELATIONS} JOIN pg_inherits i ON i.inhrelid = c.oid JOIN pg_class p ON p.oid = i.inhparent
  JOIN pg_namespace pn ON pn.oid = p.relnamespace
WHERE c.relispartition AND c.relkind = 'r' AND ${OURS} ORDER BY 1, 2`;

/** Outside of the snapshot: a number that is given meanwhile is given once, in the original. */
const SEQUENCES = `
SELECT ${NAMES}, pg_sequence_last_value(c.oid)::text AS value FROM ${RELATIONS} WHERE c.relkind = 'S' AND ${OURS} ORDER BY 1, 2`;

/**
 * The kinds of relations that a backup deals with: tables, partitioned tables and sequences are in it; views, indexes and types
 * have no rows of their own, and the migrations make them.
 */
const KNOWN_KINDS = ['r', 'p', 'S', 'v', 'i', 'I', 'c', 't'];
const UNKNOWN = `
SELECT CASE c.relkind WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'relation of kind ' || c.relkind::text END AS kind,
  n.nspname || '.' || c.relname AS name
FROM ${RELATIONS} WHERE c.relkind::text <> ALL ($1) AND ${OURS}
UNION ALL SELECT 'large object', oid::text FROM pg_largeobject_metadata
UNION ALL SELECT 'table that is partitioned in two levels', n.nspname || '.' || c.relname
FROM ${RELATIONS} WHERE c.relkind = 'p' AND c.relispartition AND ${OURS} ORDER BY 1, 2`;

export async function tablesOf(client: ClientBase): Promise<Table[]> {
  return (await client.query<Table>(TABLES)).rows;
}

export async function partitionsOf(client: ClientBase): Promise<Partition[]> {
  return (await client.query<Partition>(PARTITIONS)).rows;
}

export async function sequencesOf(client: ClientBase): Promise<Sequence[]> {
  return (await client.query<Sequence>(SEQUENCES)).rows;
}

/** What a backup would leave out without a word, such as `materialized view public.figures`. */
export async function unknownTo(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ kind: string; name: string }>(UNKNOWN, [KNOWN_KINDS]);
  return rows.map(({ kind, name }) => `${kind} ${name}`);
}

/** The first of these tables that has a row, or undefined. */
export async function filledOf(client: Pick<ClientBase, 'query'>, tables: readonly Name[]): Promise<Name | undefined> {
  for (const table of tables) {
    const { rows } = await client.query(`SELECT FROM ${quoted(table)} LIMIT 1`);
    if (rows.length > 0) return table;
  }
  return undefined;
}
