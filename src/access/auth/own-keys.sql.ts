// The statements of a caller's own keys. Locks are taken in the order membership, keys by id.
import { columns } from '../../platform/database/columns.js';
import { doubleOrNull, sql, uuid } from '../../platform/database/sql.js';
import { ApiKey } from './api-key.entity.js';
import { USER, WORKSPACE } from './visibility.js';

const KEY = columns(ApiKey, 'k', ['id', 'name', 'prefix', 'scopes', 'createdAt', 'expiresAt', 'lastUsedAt']);
/** A key as its owner sees it. */
export type OwnKeyRow = typeof KEY.row;

/** By the clock of the database, and not as of the begin of a transaction that may have waited for a lock. */
const LIVE = sql`k.workspace_id = ${WORKSPACE} AND k.user_id = ${USER} AND k.revoked_at IS NULL
  AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())`;

/** Newest first. */
export const LIST = sql`
SELECT ${KEY} FROM api_keys k WHERE ${LIVE} ORDER BY k.created_at DESC, k.id DESC`.rows<OwnKeyRow>();

/**
 * Lets the changes of one member's keys follow each other. Requests that only hold the membership do not wait for it, and its
 * removal comes before or after.
 */
export const TAKE_TURN = sql`
SELECT 1 FROM memberships WHERE workspace_id = ${WORKSPACE} AND user_id = ${USER} FOR NO KEY UPDATE`.rows();

/** For a caller who has the turn. The operator's revocation comes before, and then the key is not among them, or after. */
export const LOCK_LIVE = sql`
SELECT ${KEY}, clock_timestamp() AS "askedAt" FROM api_keys k WHERE ${LIVE} ORDER BY k.id FOR UPDATE`.rows<
  OwnKeyRow & { askedAt: Date }
>();

/** Lets a key work for some seconds more, but not longer than it would have. */
export const EXPIRE = sql`
UPDATE api_keys SET expires_at = least(expires_at, clock_timestamp() + make_interval(secs => ${doubleOrNull('seconds')}))
WHERE id = ${uuid('id')}`.rows();

export const REVOKE = sql`UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = ${uuid('id')}`.rows();
