// The statements of memberships. Locks are taken in the order account, memberships by id; then projects, tasks, runs, files.
import { columns } from '../../platform/database/columns.js';
import { LOCKS } from '../../platform/database/locks.js';
import { raw, sql, text, textOrNull, uuid, uuids } from '../../platform/database/sql.js';
import { ACCESS } from '../auth/invitations.sql.js';
import { Membership } from './membership.entity.js';
import { User } from './user.entity.js';
import { Workspace } from './workspace.entity.js';

const MEMBERSHIP = columns(Membership, 'm', ['workspaceId', 'userId']);
const ROLE = columns(Membership, 'm', ['role', 'createdAt']);
const MEMBER = columns(User, 'u', ['email', 'name']);

/** A membership with its user; the address is null for a service account. */
export type MembershipRow = typeof MEMBERSHIP.row & typeof MEMBER.row & typeof ROLE.row;

const SELECT = sql`
SELECT ${MEMBERSHIP}, ${MEMBER}, ${ROLE}
FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = ${uuid('workspaceId')}`;

/** The people; oldest first. */
export const LIST = sql`${SELECT} AND u.kind = 'person' ORDER BY m.created_at, m.user_id`.rows<MembershipRow>();

const ANY_MEMBER = columns(Membership, 'm', ['userId', 'role', 'createdAt']);
const OF_USER = columns(User, 'u', ['name', 'kind', 'email']);
/** A person or service account as a member; `createdAt` is when the membership began. */
export type MemberRow = typeof ANY_MEMBER.row &
  typeof OF_USER.row & {
    /** Null for a service account. */
    access: 'none' | 'invited' | 'has_keys' | null;
    /** What has made the membership of a person; null for a service account. */
    origin: 'added' | 'sign_in' | 'directory' | null;
    /** The issuer of the provider whose account is linked, of several the last one; null where none is. */
    provider: string | null;
  };

// A membership that the directory has made is known by the time when it began.
const CAME = raw(`CASE WHEN u.kind = 'service' THEN NULL WHEN m.before_rule = 'none' THEN 'sign_in'
  WHEN EXISTS (
    SELECT FROM scim_users s WHERE s.workspace_id = m.workspace_id AND s.user_id = m.user_id AND s.member_since = m.created_at)
  THEN 'directory' ELSE 'added' END AS origin,
  (SELECT i.issuer FROM sign_in_identities i WHERE i.user_id = m.user_id ORDER BY i.created_at DESC LIMIT 1) AS provider`);

const EVERY = sql`
SELECT ${ANY_MEMBER}, ${OF_USER}, ${ACCESS}, ${CAME} FROM memberships m JOIN users u ON u.id = m.user_id
WHERE m.workspace_id = ${uuid('workspaceId')}`;
/** People and service accounts; oldest first. */
export const EVERYONE = sql`${EVERY} ORDER BY m.created_at, m.user_id`.rows<MemberRow>();
export const ONE = sql`${EVERY} AND m.user_id = ${uuid('userId')}`.rows<MemberRow>();

export const GET = sql`${SELECT} AND m.user_id = ${uuid('userId')}`.rows<MembershipRow>();

/** Holds the account, so that its deletion comes before or after all of this. */
export const HOLD_USER = sql`
SELECT 1 FROM users WHERE id = ${uuid('userId')} AND deleted_at IS NULL FOR SHARE`.rows();

/** No row for a user who is a member already. */
export const JOIN = sql`
INSERT INTO memberships (workspace_id, user_id, role, before_rule)
VALUES (${uuid('workspaceId')}, ${uuid('userId')}, ${text('role')}, ${textOrNull('beforeRule')})
ON CONFLICT DO NOTHING RETURNING 1`.rows();

const ONE_ROLE = columns(Membership, 'm', ['role']);
const lockRole = (strength: string) =>
  sql`
SELECT ${ONE_ROLE} FROM memberships m
WHERE m.workspace_id = ${uuid('workspaceId')} AND m.user_id = ${uuid('userId')} FOR ${raw(strength)}`.rows<
    typeof ONE_ROLE.row
  >();

/** How firmly a membership is locked, by what is done with it. */
export const LOCK_ROLE = {
  /** It ends, or is given what another one has: requests under way that hold it end first. */
  end: lockRole('UPDATE'),
  /** All of it but its key, which requests under way refer to: a change of the role does not wait for them. */
  change: lockRole('NO KEY UPDATE'),
  /** It stays, as that of a request's caller does. */
  hold: lockRole('KEY SHARE'),
};

// Two owners of a workspace who leave at once must not count on each other. The lock is of the workspace, but not of its row:
// claims of runs hold the row while they hold a task.
const OWNERS_LOCK = raw(String(LOCKS.owners));
export const LOCK_OWNERS = sql`
SELECT pg_advisory_xact_lock(${OWNERS_LOCK}, hashtext(id::text)) FROM unnest(${uuids('workspaceIds')}) AS w(id)`.rows();

const SLUG = columns(Workspace, 'w', ['slug']);
/** Of these workspaces those in which no other person is an owner. */
export const WITHOUT_OTHER_OWNER = sql`
SELECT ${SLUG} FROM workspaces w WHERE w.id = ANY(${uuids('workspaceIds')}) AND NOT EXISTS (
  SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.workspace_id = w.id AND m.user_id <> ${uuid('userId')} AND m.role = 'owner' AND u.kind = 'person')
ORDER BY w.slug`.rows<typeof SLUG.row>();

/** Locks all of the account but its key, which requests under way refer to: they end first, by their memberships. */
export const LOCK_USER = sql`
SELECT 1 FROM users WHERE id = ${uuid('userId')} AND deleted_at IS NULL FOR NO KEY UPDATE`.rows();

const WORKSPACE = columns(Membership, 'm', ['workspaceId', 'role']);
export const LOCK_EVERYWHERE = sql`
SELECT ${WORKSPACE} FROM memberships m WHERE m.user_id = ${uuid('userId')} ORDER BY m.workspace_id FOR UPDATE`.rows<
  typeof WORKSPACE.row
>();

/** For a caller who holds the membership. Its keys go with it. */
export const REMOVE = sql`
DELETE FROM memberships WHERE workspace_id = ${uuid('workspaceId')} AND user_id = ${uuid('userId')}`.rows();
