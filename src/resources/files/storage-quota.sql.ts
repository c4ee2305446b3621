// How much a workspace stores and may store, as pieces of SQL. A statement that holds one of them takes the whole `limits`.
import { field, type Fragment, type Param, raw, sql, uuid } from '../../platform/database/sql.js';

/** Bytes that a workspace of each plan may store; null for no limit. */
export interface StorageLimits {
  free: number | null;
  paid: number | null;
}

/** Bytes. */
export interface StorageUsed {
  usedBytes: number;
  /** Null for no limit. */
  limitBytes: number | null;
}

type Piece<P> = Fragment<P> | Param<P>;

const limits = field<StorageLimits>();
/** Of a workspace `w`. */
export const LIMIT = sql`CASE w.plan WHEN 'free' THEN ${limits('limits', 'free', 'bigint')} ELSE ${limits('limits', 'paid', 'bigint')} END`;
const USED = raw('s.stored_bytes + s.workdir_bytes + s.snapshot_bytes');

/**
 * Two CTEs that let bytes in: `room` has a row when `size` more fit. It locks the counter until the commit and re-checks its
 * condition on the newest version, so of two writes that both want the last byte one finds no row. The trigger on what is then
 * inserted counts. The workspace is locked first, as its deletion does.
 */
export const room = <A, B>(workspaceId: Piece<A>, size: Piece<B>) => sql`
plan AS (SELECT w.plan FROM workspaces w WHERE w.id = ${workspaceId} FOR KEY SHARE),
room AS (
  SELECT s.workspace_id FROM storage_usage s, plan w
  WHERE s.workspace_id = ${workspaceId} AND (${USED} + ${size} <= ${LIMIT}) IS NOT FALSE FOR NO KEY UPDATE OF s)`;

/**
 * What a workspace stores when that is above its limit, as a {@link StorageUsed}; else null. `more`: bytes that the statement
 * itself adds.
 */
export const above = <A, B>(workspaceId: Piece<A>, more: Piece<B>) => sql`(
  SELECT json_build_object('usedBytes', ${USED} + ${more}, 'limitBytes', ${LIMIT})
  FROM storage_usage s JOIN workspaces w ON w.id = s.workspace_id
  WHERE s.workspace_id = ${workspaceId} AND ${USED} + ${more} > ${LIMIT})`;

const FIGURES = sql`(${USED})::float8 AS "usedBytes", (${LIMIT})::float8 AS "limitBytes"`;

export const GET = sql`
SELECT ${FIGURES} FROM storage_usage s JOIN workspaces w ON w.id = s.workspace_id
WHERE w.id = ${uuid('workspaceId')}`.rows<StorageUsed>();

export const LIST = sql`
SELECT w.id AS "workspaceId", ${FIGURES} FROM storage_usage s JOIN workspaces w ON w.id = s.workspace_id`.rows<
  StorageUsed & { workspaceId: string }
>();
