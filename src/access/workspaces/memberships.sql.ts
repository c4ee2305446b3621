// The statements of memberships. Locks are taken in the order account, memberships by id; then projects, tasks, runs, files.
import { columns } from '../../platform/database/columns.js';
import { LOCKS } from '../../platform/database/locks.js';
import { raw, sql, uuid, uuids } from '../../platform/database/sql.js';
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

const ANY_MEMBER = columns(Membership, 'm', ['userId', 'role']);
const OF_USER = columns(User, 'u', ['name', 'kind']);
/** A member as the others see it. */
export type MemberRow = typeof ANY_MEMBER.row & typeof OF_USER.row;

/** People and service accounts; oldest first. */
export const EVERYONE = sql`
SELECT ${ANY_MEMBER}, ${OF_USER} FROM memberships m JOIN users u ON u.id = m.user_id
WHERE m.workspace_id = ${uuid('workspaceId')} ORDER BY m.created_at, m.user_id`.rows<MemberRow>();

export const GET = sql`${SELECT} AND m.user_id = ${uuid('userId')}`.rows<MembershipRow>();

/** Holds the account, so that its deletion comes before or after all of this. */
export const HOLD_USER = sql`
SELECT 1 FROM users WHERE id = ${uuid('userId')} AND deleted_at IS NULL FOR SHARE`.rows();

const ONE_ROLE = columns(Membership, 'm', ['role']);
/** Locks all of the membership but its key, which requests under way refer to: a change of the role does not wait for them. */
export const LOCK_ROLE = sql`
SELECT ${ONE_ROLE} FROM memberships m
WHERE m.workspace_id = ${uuid('workspaceId')} AND m.user_id = ${uuid('userId')} FOR NO KEY UPDATE`.rows<
  typeof ONE_ROLE.row
>();

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

const LOCKED = columns(Membership, 'm', ['userId', 'role']);
/** All at once and by id: two members who are removed in favour of each other must not wait for each other. */
export const LOCK = sql`
SELECT ${LOCKED} FROM memberships m WHERE m.workspace_id = ${uuid('workspaceId')} AND m.user_id = ANY(${uuids('userIds')})
ORDER BY m.user_id FOR UPDATE`.rows<typeof LOCKED.row>();

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
