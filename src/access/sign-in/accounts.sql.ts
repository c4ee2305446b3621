// The statements of sign-ins (reference §31). Locks are taken in the order identity, account, memberships by workspace.
import { columns } from '../../platform/database/columns.js';
import { LOCKS } from '../../platform/database/locks.js';
import { raw, sql, text, texts, uuid } from '../../platform/database/sql.js';
import { ApiKey } from '../auth/api-key.entity.js';
import { LIVE } from '../auth/key-rules.js';
import { Membership } from '../workspaces/membership.entity.js';

/** Sign-ins of one person follow each other. */
export const TAKE_TURN = sql`
SELECT pg_advisory_xact_lock(${raw(String(LOCKS.signIn))}, hashtext(${text('issuer')} || ' ' || ${text('subject')}))`.rows();

/** The account of a person, held. */
export const BY_IDENTITY = sql`
SELECT u.id FROM sign_in_identities i JOIN users u ON u.id = i.user_id
WHERE i.issuer = ${text('issuer')} AND i.subject = ${text('subject')} AND u.deleted_at IS NULL FOR SHARE OF u`.rows<{
  id: string;
}>();

/** The account with an address, held. `taken`: a sign-in has made it, or this provider knows it as another person. */
export const BY_ADDRESS = sql`
SELECT u.id, u.email, EXISTS (
  SELECT FROM sign_in_identities i WHERE i.user_id = u.id AND (i.made_account OR i.issuer = ${text('issuer')})) AS taken
FROM users u WHERE lower(u.email) = lower(${text('email')}) FOR SHARE OF u`.rows<{
  id: string;
  email: string;
  taken: boolean;
}>();

const STANDING = columns(Membership, 'm', ['workspaceId', 'role', 'beforeRule']);
/** What a person is in all workspaces, held as for a change of the role, with the slugs. */
export const MEMBERSHIPS = sql`
SELECT ${STANDING}, w.slug FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
WHERE m.user_id = ${uuid('userId')} ORDER BY m.workspace_id FOR NO KEY UPDATE OF m`.rows<
  typeof STANDING.row & { slug: string }
>();

/** The workspaces that rules name. */
export const WORKSPACES = sql`
SELECT w.id, w.slug FROM workspaces w WHERE w.slug = ANY(${texts('slugs')}) ORDER BY w.id`.rows<{
  id: string;
  slug: string;
}>();

export const NOW = sql`SELECT clock_timestamp() AS now`.rows<{ now: Date }>();

/** Sessions of one person in one workspace: a further one ends the oldest. */
const MOST_SESSIONS = 50;
const OF_SESSIONS = columns(ApiKey, 'k', ['id']);
export const END_SURPLUS = sql`
UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id IN (
  SELECT ${OF_SESSIONS} FROM api_keys k
  WHERE k.workspace_id = ${uuid('workspaceId')} AND k.user_id = ${uuid('userId')} AND k.session AND ${LIVE}
  ORDER BY k.created_at DESC OFFSET ${raw(String(MOST_SESSIONS - 1))})`.rows();

/** All sessions that sign-ins of a person have begun, in all workspaces. */
export const END_SESSIONS = sql`
UPDATE api_keys k SET revoked_at = clock_timestamp() WHERE k.user_id = ${uuid('userId')} AND k.session AND ${LIVE}`.rows();
