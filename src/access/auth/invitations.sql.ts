// The statements of invitations. Locks are taken in the order membership, key, code.
import { bytes, type Fragment, raw, sql, uuid } from '../../platform/database/sql.js';
import { LIVE } from './key-rules.js';

/** Whether a provider knows the person, who needs no other way in. */
const SIGNS_IN = <P>(user: Fragment<P>) => sql`EXISTS (SELECT FROM sign_in_identities i WHERE i.user_id = ${user})`;

/**
 * What is known of the way in of the member `m` with the account `u`: `has_keys` once there was a key, or a log-in by an invitation.
 * Null for a service account.
 */
export const ACCESS = sql`CASE WHEN u.kind = 'person' THEN coalesce((
  SELECT CASE WHEN bool_or(k.invitation IS DISTINCT FROM 'open') OR ${SIGNS_IN(raw('m.user_id'))} THEN 'has_keys'
    WHEN bool_or(${LIVE}) THEN 'invited' END
  FROM api_keys k WHERE k.workspace_id = m.workspace_id AND k.user_id = m.user_id), 'none') END AS access`;

const OF_MEMBER = sql`k.workspace_id = ${uuid('workspaceId')} AND k.user_id = ${uuid('userId')}`;

/** Ends the invitation of a member, if there is one: its code goes with the key. One by which somebody has logged in stays. */
export const WITHDRAW = sql`DELETE FROM api_keys k WHERE ${OF_MEMBER} AND k.invitation = 'open'`.rows();

/** Whether a member has or had any key, and the time by the clock of the database. */
export const STANDING = sql`
SELECT EXISTS (SELECT FROM api_keys k WHERE ${OF_MEMBER}) OR ${SIGNS_IN(sql`${uuid('userId')}`)} AS "hasKeys", clock_timestamp() AS now`.rows<{
  hasKeys: boolean;
  now: Date;
}>();

/**
 * Deletes a code and resolves with its key. Of two who send a code at once, one deletes it, and the other waits and finds none. The key of
 * an invitation works on without an end of its own, which the session has; where the member got another key meanwhile the code is dead.
 */
export const USE_CODE = sql`
WITH held AS (
  SELECT k.id, k.invitation, k.workspace_id, k.user_id FROM console_codes c JOIN api_keys k ON k.id = c.key_id
  WHERE c.hash = ${bytes('hash')} AND c.expires_at > clock_timestamp() FOR NO KEY UPDATE OF k),
used AS (
  DELETE FROM console_codes c USING held h WHERE c.hash = ${bytes('hash')} AND (h.invitation IS DISTINCT FROM 'open' OR NOT EXISTS (
    SELECT 1 FROM api_keys o WHERE o.workspace_id = h.workspace_id AND o.user_id = h.user_id AND o.id <> h.id))
  RETURNING c.key_id),
opened AS (
  UPDATE api_keys k SET invitation = 'used', expires_at = NULL FROM used u WHERE k.id = u.key_id AND k.invitation = 'open')
SELECT key_id AS "keyId" FROM used`.rows<{ keyId: string }>();

/** The key `k` is that of an invitation by which somebody has logged in, and has no session any more but `s`. */
const isOver = (but: string) =>
  raw(`k.invitation = 'used' AND k.revoked_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM console_sessions o WHERE o.key_id = k.id AND o.expires_at > clock_timestamp()${but})`);

/** Ends a session, with the key where that is of an invitation or of this session alone. Resolves with whose it was. */
export const END_SESSION = sql`
WITH s AS (DELETE FROM console_sessions WHERE hash = ${bytes('hash')} RETURNING hash, key_id, id_token),
over AS (UPDATE api_keys k SET revoked_at = clock_timestamp() FROM s WHERE k.id = s.key_id
  AND (k.session AND k.revoked_at IS NULL OR ${isOver(' AND o.hash <> s.hash')}))
SELECT k.id AS "keyId", k.workspace_id AS "workspaceId", k.user_id AS "actorId", s.id_token AS "idToken" FROM s JOIN api_keys k ON k.id = s.key_id`.rows<{
  keyId: string;
  workspaceId: string;
  actorId: string;
  idToken: Buffer | null;
}>();

/** Ends the keys of invitations whose sessions have run out. */
export const END_ALL = sql`UPDATE api_keys k SET revoked_at = clock_timestamp() WHERE ${isOver('')}`.rows();
