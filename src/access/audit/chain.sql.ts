// How rows of the audit log are sealed, walked, and dropped.
import { columns } from '../../platform/database/columns.js';
import { LOCKS } from '../../platform/database/locks.js';
import { bigint, doubles, type Fragment, int, raw, sql, text, texts, timeOrNull, uuid, uuidOrNull, uuids } from '../../platform/database/sql.js'; // prettier-ignore
import { AuditEntry, INSTALLATION } from './audit-entry.entity.js';

const ROW = columns(AuditEntry, 'a', [
  'workspaceId',
  'id',
  'at',
  'actorId',
  'keyId',
  'address',
  'action',
  'targetType',
  'targetId',
  'fields',
  'outcome',
  'code',
  'requestId',
  'count',
]);

/** True for one transaction at a time, until its end. */
export const TRY_LOCK = sql`SELECT pg_try_advisory_xact_lock(${raw(String(LOCKS.auditSeals))}) AS locked`.rows<{
  locked: boolean;
}>();

// A row below the oldest transaction that writes has nobody left who could come before it. One at or above the next transaction id
// comes from a dump of another server.
const SETTLED = raw(`(xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
  OR xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint)`);

/** The next rows to seal, in their order, each with the end of its chain (hexadecimal; null for none). */
export const UNSEALED = sql`
SELECT ${ROW}, c.seq::float8 AS "lastSeq", encode(c.hash, 'hex') AS "lastHash"
FROM (SELECT * FROM audit_log WHERE hash IS NULL AND ${SETTLED} ORDER BY xid, id LIMIT ${int('limit')}) a
LEFT JOIN audit_chains c ON c.workspace_id = a.workspace_id
ORDER BY a.xid, a.id`.rows<typeof ROW.row & { lastSeq: number | null; lastHash: string | null }>();

/** Writes seals, in hexadecimal, and moves the ends of the chains. */
export const SEAL = sql`
WITH sealed AS (
  SELECT workspace_id, at::timestamptz AS at, id, seq::bigint AS seq, decode(hash, 'hex') AS hash
  FROM unnest(${uuids('workspaceIds')}, ${texts('times')}, ${uuids('ids')}, ${doubles('seqs')}, ${texts('hashes')})
    AS s(workspace_id, at, id, seq, hash)),
written AS (
  UPDATE audit_log a SET seq = s.seq, hash = s.hash FROM sealed s
  WHERE a.workspace_id = s.workspace_id AND a.at = s.at AND a.id = s.id)
INSERT INTO audit_chains (workspace_id, seq, hash)
SELECT DISTINCT ON (workspace_id) workspace_id, seq, hash FROM sealed ORDER BY workspace_id, seq DESC
ON CONFLICT (workspace_id) DO UPDATE SET seq = EXCLUDED.seq, hash = EXCLUDED.hash`.rows();

// Both functions are in audit-months.function.ts.
export const MAKE_MONTHS = sql`SELECT make_audit_months(now())`.rows();
export const DROP_MONTHS = sql`SELECT drop_audit_months(${int('days')}) AS name`.rows<{ name: string }>();

const NOWHERE = raw(`'${INSTALLATION}'`);
/** A workspace that is gone and has rows still. */
export const GONE = sql`
SELECT c.workspace_id AS id FROM audit_chains c
WHERE c.workspace_id <> ${NOWHERE} AND NOT EXISTS (SELECT FROM workspaces w WHERE w.id = c.workspace_id) LIMIT 1`.rows<{
  id: string;
}>();
const WORKSPACE = uuid('workspaceId');
/** Some rows of a workspace that is gone. */
export const FORGET_SOME = sql`
DELETE FROM audit_log a USING (SELECT at, id FROM audit_log WHERE workspace_id = ${WORKSPACE} LIMIT ${int('limit')}) part
WHERE a.workspace_id = ${WORKSPACE} AND (a.at, a.id) = (part.at, part.id) RETURNING 1`.rows();
export const FORGET_CHAIN = sql`
WITH anchors AS (DELETE FROM audit_cuts WHERE workspace_id = ${WORKSPACE})
DELETE FROM audit_chains WHERE workspace_id = ${WORKSPACE}`.rows();

/** A chain with its end, in hexadecimal. `slug` is null for the installation itself. */
export interface Chain {
  workspaceId: string;
  slug: string | null;
  seq: number;
  hash: string | null;
}
/** The chains of all workspaces, or of one, those without a row too; the installation's first. */
export const CHAINS = sql`
SELECT w.id AS "workspaceId", w.slug, coalesce(c.seq, 0)::float8 AS seq, encode(c.hash, 'hex') AS hash
FROM (SELECT ${NOWHERE}::uuid AS id, NULL AS slug, NULL::timestamptz AS created_at
      UNION ALL SELECT id, slug, created_at FROM workspaces) w
LEFT JOIN audit_chains c ON c.workspace_id = w.id
WHERE ${uuidOrNull('only')} IS NULL OR w.id = ${uuidOrNull('only')}
ORDER BY w.created_at NULLS FIRST, w.id`.rows<Chain>();

export type SliceRow = typeof ROW.row & { seq: number; hash: string; anchorHash: string | null };
/** The next rows of a chain, each with its seal, and with that of the dropped row before it, in hexadecimal. */
export const SLICE = sql`
SELECT ${ROW}, a.seq::float8 AS seq, encode(a.hash, 'hex') AS hash, encode(c.hash, 'hex') AS "anchorHash"
FROM (SELECT * FROM audit_log WHERE workspace_id = ${WORKSPACE} AND seq <= ${bigint('end')}
        AND (seq, at, id) > (${bigint('seq')}, coalesce(${timeOrNull('at')}, '-infinity'), ${uuid('id')})
      ORDER BY seq, at, id LIMIT ${int('limit')}) a
LEFT JOIN audit_cuts c ON c.workspace_id = a.workspace_id AND c.seq = a.seq - 1
ORDER BY a.seq, a.at, a.id`.rows<SliceRow>();

/** The end of a workspace's chain, in hexadecimal; nothing where no row of it is sealed yet. */
export const END = sql`
SELECT c.seq::float8 AS seq, encode(c.hash, 'hex') AS hash FROM audit_chains c WHERE c.workspace_id = ${WORKSPACE}`.rows<{
  seq: number;
  hash: string;
}>();

/** The seal of a dropped row, in hexadecimal, if the chain goes on from it. */
export const ANCHOR = sql`
SELECT encode(hash, 'hex') AS hash FROM audit_cuts WHERE workspace_id = ${WORKSPACE} AND seq = ${bigint('seq')}`.rows<{
  hash: string;
}>();

/** The first row behind the end of its chain, with that end, which may have moved meanwhile. */
export const BEYOND = sql`
SELECT a.id, a.seq::float8 AS seq FROM audit_log a
WHERE a.workspace_id = ${WORKSPACE}
  AND a.seq > coalesce((SELECT c.seq FROM audit_chains c WHERE c.workspace_id = ${WORKSPACE}), 0)
ORDER BY a.seq LIMIT 1`.rows<{ id: string; seq: number }>();

const ENTRY = sql`${ROW}, a.seq::float8 AS seq, encode(a.hash, 'hex') AS hash, u.name AS "actorName"`;
export type EntryRow = typeof ROW.row & { seq: number | null; hash: string | null; actorName: string | null };

/**
 * The newest rows of a workspace; `workspaceId` may be the installation's. One statement for each set of filters: with `$1 IS NULL OR …` the plan
 * that is kept reads the whole log for a rare action.
 */
const list = <P>(filter: Fragment<P>) =>
  sql`
SELECT ${ENTRY}
FROM (SELECT * FROM audit_log
      WHERE workspace_id = ${WORKSPACE}
        AND at >= coalesce(${timeOrNull('since')}, '-infinity') AND at < coalesce(${timeOrNull('until')}, 'infinity')
        AND (at, id) < (coalesce(${timeOrNull('beforeAt')}, 'infinity'), coalesce(${uuidOrNull('beforeId')}, ${NOWHERE}))
        ${filter}
      ORDER BY at DESC, id DESC LIMIT ${int('limit')}) a
LEFT JOIN users u ON u.id = a.actor_id
ORDER BY a.at DESC, a.id DESC`.rows<EntryRow>();

const [OF_ACTOR, OF_ACTION] = [sql`AND actor_id = ${uuid('actor')}`, sql`AND action = ${text('action')}`];
export const LIST = {
  all: list(raw('')),
  ofActor: list(OF_ACTOR),
  ofAction: list(OF_ACTION),
  ofBoth: list(sql`${OF_ACTOR} ${OF_ACTION}`),
};
