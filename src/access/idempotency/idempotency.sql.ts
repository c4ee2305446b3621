// The statements of a keyed request. The claim locks the record of the key until the commit, before anything else is locked.
import { bytes, int, sql, text, textOrNull, uuid } from '../../platform/database/sql.js';
import type { Answer } from './keyed-request.js';

const IDENTITY = sql`workspace_id = ${uuid('workspaceId')} AND user_id = ${uuid('userId')}
  AND method = ${text('method')} AND path = ${text('path')} AND key = ${text('key')}`;

/**
 * One row when the key is new. A record that ran out by the database's clock counts as absent, purged or not; one without an
 * answer too, which is there only if BEGIN alone was cancelled by an operator and the claim behind it was carried out by itself.
 */
export const CLAIM = sql`
INSERT INTO idempotency_keys AS k (workspace_id, user_id, method, path, key, fingerprint, expires_at)
VALUES (${uuid('workspaceId')}, ${uuid('userId')}, ${text('method')}, ${text('path')}, ${text('key')},
  ${bytes('fingerprint')}, now() + interval '24 hours')
ON CONFLICT (workspace_id, user_id, method, path, key) DO UPDATE
SET fingerprint = EXCLUDED.fingerprint, status = NULL, body = NULL, location = NULL,
    created_at = now(), expires_at = EXCLUDED.expires_at
WHERE k.expires_at <= now() OR k.status IS NULL
RETURNING true`.rows();

/** The answer, on the record that {@link CLAIM} has made in the same transaction. */
export const STORE = sql`
UPDATE idempotency_keys SET status = ${int('status')}, body = ${text('body')}, location = ${textOrNull('location')}
WHERE ${IDENTITY}`.rows();

type Stored = Omit<Answer, 'replayed'> & { fingerprint: Buffer };
export const FIND = sql`
SELECT fingerprint, status, body, location FROM idempotency_keys WHERE ${IDENTITY}`.rows<Stored>();
