// The statements of memberships. Locks are taken in the order account, memberships by id, owners of the workspaces; then
// projects, tasks, runs, files.
import { columns } from '../../platform/database/columns.js';
import { raw, sql, text, uuid, uuids } from '../../platform/database/sql.js';
import { Membership } from './membership.entity.js';
import { User } from './user.entity.js';

const MEMBERSHIP = columns(Membership, 'm', ['workspaceId', 'userId']);
const PERSON = columns(User, 'u', ['email', 'name']);
const SINCE = columns(Membership, 'm', ['role', 'createdAt']);

/** A membership with its user; the address is null for a service account. */
export type MembershipRow = typeof MEMBERSHIP.row & typeof PERSON.row & typeof SINCE.row;

const SELECT = sql`
SELECT ${MEMBERSHIP}, ${PERSON}, ${SINCE}
FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = ${uuid('workspaceId')}`;

/** The people; oldest first. */
export const LIST = sql`${SELECT} AND u.kind = 'person' ORDER BY m.created_at, m.user_id`.rows<MembershipRow>();

export const GET = sql`${SELECT} AND m.user_id = ${uuid('userId')}`.rows<MembershipRow>();

/** Holds the account, so that its deletion comes before or after all of this. */
export const HOLD_USER = sql`
SELECT 1 FROM users WHERE id = ${uuid('userId')} AND deleted_at IS NULL FOR SHARE`.rows();

const ROLE = columns(Membership, 'm', ['role']);
/** Locks all of the membership but its key, which requests under way refer to: a change of the role does not wait for them. */
export const LOCK_ROLE = sql`
SELECT ${ROLE} FROM memberships m WHERE m.workspace_id = ${uuid('workspaceId')} AND m.user_id = ${uuid('userId')}
FOR NO KEY UPDATE`.rows<typeof ROLE.row>();

export const ADD = sql`
INSERT INTO memberships (workspace_id, user_id, role)
VALUES (${uuid('workspaceId')}, ${uuid('userId')}, ${text('role')})
ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = EXCLUDED.role`.rows();

const LOCKED = columns(Membership, 'm', ['userId', 'role']);
/** All at once and by id: two members who are removed in favour of each other must not wait for each other. */
export const LOCK = sql`
SELECT ${LOCKED} FROM memberships m WHERE m.workspace_id = ${uuid('workspaceId')} AND m.user_id = ANY(${uuids('userIds')})
ORDER BY m.user_id FOR UPDATE`.rows<typeof LOCKED.row>();

/** Locks all of the account but its key, which requests under way refer to: they end first, by their memberships. */
export const LOCK_USER = sql`
SELECT 1 FROM users WHERE id = ${uuid('userId')} AND deleted_at IS NULL FOR NO KEY UPDATE`.rows();

const ROLE_IN = columns(Membership, 'm', ['workspaceId', 'role']);
export const LOCK_EVERYWHERE = sql`
SELECT ${ROLE_IN} FROM memberships m WHERE m.user_id = ${uuid('userId')} ORDER BY m.workspace_id FOR UPDATE`.rows<
  typeof ROLE_IN.row
>();

/** For a caller who holds the membership. Its keys go with it. */
export const REMOVE = sql`
DELETE FROM memberships WHERE workspace_id = ${uuid('workspaceId')} AND user_id = ${uuid('userId')}`.rows();

// Any fixed number: the first half of the locks' names.
const OWNERS_LOCK = 7_163_003;
/**
 * Two owners of a workspace who leave at once must not count on each other. The lock is the workspace's, but not that of its
 * row: claims of runs hold the row while they hold a task.
 */
export const LOCK_OWNERS = sql`
SELECT pg_advisory_xact_lock(${raw(String(OWNERS_LOCK))}, hashtext(id::text)) FROM unnest(${uuids('workspaceIds')}) AS w(id)`.rows();

/** Those of some workspaces in which no other person than the user is an owner. */
export const WITHOUT_OTHER_OWNER = sql`
SELECT w.slug FROM workspaces w WHERE w.id = ANY(${uuids('workspaceIds')}) AND NOT EXISTS (
  SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.workspace_id = w.id AND m.user_id <> ${uuid('userId')} AND m.role = 'owner' AND u.kind = 'person')
ORDER BY w.slug`.rows<{ slug: string }>();
