// Who reads a stream, looked up anew in each statement that reads for it: a key that was ended, a member that was removed or has
// another role, a project that is private by now count from the statement on (reference §17).
import type { Viewer } from '../../access/auth/visibility.js';
import { bytesOrNull, type Fragment, type None, raw, sql, uuid } from '../../platform/database/sql.js';

/**
 * Keys `k` that still stand for a member, with that and the workspace; conditions on `k` may follow. Where the caller came by a session
 * of the console, that stands too.
 */
const STANDS = <P>(more: Fragment<None>, session: Fragment<P>): Fragment<P> =>
  sql`
SELECT k.id, k.workspace_id, k.user_id, m.role IN ('owner', 'admin') AS everything, w.transparency
FROM api_keys k JOIN memberships m USING (workspace_id, user_id) JOIN workspaces w ON w.id = k.workspace_id
WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()) AND ${more}
  AND (${session} IS NULL OR EXISTS (
    SELECT 1 FROM console_sessions s WHERE s.hash = ${session} AND s.key_id = k.id AND s.expires_at > clock_timestamp()))` as Fragment<P>;

const KEY = uuid('keyId');

/** The CTE `viewer`: the one whose key it is; no row when it is worth nothing any more, or the session is over. */
export const VIEWER = sql`viewer AS (
SELECT stands.* FROM (${STANDS(raw('true'), sql`${bytesOrNull('session')}`)}) stands WHERE stands.id = ${KEY})`;

/** The callers that a query `stands` names. */
export const viewerOf = (alias: string): Viewer<None> => ({
  workspace: raw(`${alias}.workspace_id`),
  user: raw(`${alias}.user_id`),
  everything: raw(`${alias}.everything`),
});

/** The row of the key `asked.key_id` and the session `asked.session`, for a join in a look for many streams. */
export const STANDS_OF_ASKED = STANDS(raw('k.id = asked.key_id'), raw('asked.session'));

/** A workspace's policy as one text, by which a change of it is noticed. */
export const POLICY_TEXT = (row: string): Fragment<None> =>
  raw(`coalesce(array_to_string(${row}.transparency, ','), '*')`);

/** Whether the key still stands for anybody. */
export const STANDS_STILL = sql`WITH ${VIEWER} SELECT 1 FROM viewer`.rows<object>();
