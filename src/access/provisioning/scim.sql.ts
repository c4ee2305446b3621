// What a directory has told of its people and groups. Locks are taken in the order directory, group, person, account, membership.
import { columns } from '../../platform/database/columns.js';
import { LOCKS } from '../../platform/database/locks.js';
import { jsonb, raw, sql, text, textOrNull, uuid, uuids } from '../../platform/database/sql.js';
import { ScimGroup } from './scim-group.entity.js';
import { ScimUser } from './scim-user.entity.js';

const PERSON = columns(ScimUser, 's', ['id', 'userId', 'userName', 'externalId', 'told', 'createdAt', 'updatedAt']);
const GROUP = columns(ScimGroup, 'g', ['id', 'displayName', 'externalId', 'createdAt', 'updatedAt']);

/** A reference to another resource, as RFC 7643 has it. */
export interface Reference {
  value: string;
  display: string;
}

export type PersonRow = typeof PERSON.row & { active: boolean; groups: Reference[] };
export type GroupRow = typeof GROUP.row & { members: Reference[] };

/**
 * Writes of one directory follow each other. A PATCH changes what it has read: of two at once the second would take back what the first has
 * done, and roles follow from all groups of a person.
 */
export const TAKE_TURN = sql`
SELECT pg_advisory_xact_lock(${raw(String(LOCKS.directory))}, hashtext(${uuid('workspaceId')}::text))`.rows();

const OF_WORKSPACE = sql`s.workspace_id = ${uuid('workspaceId')}`;
const SELECT_PERSON = sql`
SELECT ${PERSON},
  EXISTS (SELECT FROM memberships m WHERE m.workspace_id = s.workspace_id AND m.user_id = s.user_id) AS active,
  coalesce((
    SELECT json_agg(json_build_object('value', g.id, 'display', g.display_name) ORDER BY g.display_name)
    FROM scim_group_members gm JOIN scim_groups g ON g.id = gm.group_id WHERE gm.scim_user_id = s.id), '[]') AS groups
FROM scim_users s WHERE ${OF_WORKSPACE}`;

/** All people of a directory, oldest first. */
export const PEOPLE = sql`${SELECT_PERSON} ORDER BY s.created_at, s.id`.rows<PersonRow>();
export const PERSON_BY_ID = sql`${SELECT_PERSON} AND s.id = ${uuid('id')}`.rows<PersonRow>();
export const PERSON_BY_NAME = sql`
${SELECT_PERSON} AND lower(s.user_name) = lower(${text('value')})`.rows<PersonRow>();
export const PEOPLE_BY_EXTERNAL_ID = sql`${SELECT_PERSON} AND s.external_id = ${text('value')}`.rows<PersonRow>();

export const LOCK_PERSON = sql`
SELECT s.user_id AS "userId" FROM scim_users s WHERE ${OF_WORKSPACE} AND s.id = ${uuid('id')} FOR UPDATE`.rows<{
  userId: string;
}>();

const VALUES = { userName: text('userName'), externalId: textOrNull('externalId'), told: jsonb<object>()('told') };
/** No row where the workspace knows the account, or one of this name, already. */
export const ADD_PERSON = sql`
INSERT INTO scim_users (id, workspace_id, user_id, user_name, external_id, told)
VALUES (${uuid('id')}, ${uuid('workspaceId')}, ${uuid('userId')}, ${VALUES.userName}, ${VALUES.externalId}, ${VALUES.told})
ON CONFLICT DO NOTHING RETURNING 1`.rows();
/** No row where another one has the name. */
export const CHANGE_PERSON = sql`
UPDATE scim_users s SET user_name = ${VALUES.userName}, external_id = ${VALUES.externalId}, told = ${VALUES.told}, updated_at = now()
WHERE ${OF_WORKSPACE} AND s.id = ${uuid('id')} AND NOT EXISTS (
  SELECT FROM scim_users o WHERE o.workspace_id = s.workspace_id AND o.id <> s.id AND lower(o.user_name) = lower(${VALUES.userName}))
RETURNING 1`.rows();
/** The membership that the account has now is of the directory's making. */
export const OWN_MEMBERSHIP = sql`
UPDATE scim_users s SET member_since = m.created_at FROM memberships m
WHERE ${OF_WORKSPACE} AND s.id = ${uuid('id')} AND m.workspace_id = s.workspace_id AND m.user_id = s.user_id`.rows();
export const DELETE_PERSON = sql`DELETE FROM scim_users s WHERE ${OF_WORKSPACE} AND s.id = ${uuid('id')}`.rows();

const GROUP_OF_WORKSPACE = sql`g.workspace_id = ${uuid('workspaceId')}`;
const SELECT_GROUP = sql`
SELECT ${GROUP}, coalesce((
  SELECT json_agg(json_build_object('value', s.id, 'display', s.user_name) ORDER BY s.user_name)
  FROM scim_group_members gm JOIN scim_users s ON s.id = gm.scim_user_id WHERE gm.group_id = g.id), '[]') AS members
FROM scim_groups g WHERE ${GROUP_OF_WORKSPACE}`;

export const GROUPS = sql`${SELECT_GROUP} ORDER BY g.created_at, g.id`.rows<GroupRow>();
export const GROUP_BY_ID = sql`${SELECT_GROUP} AND g.id = ${uuid('id')}`.rows<GroupRow>();
export const GROUP_BY_NAME = sql`
${SELECT_GROUP} AND lower(g.display_name) = lower(${text('value')})`.rows<GroupRow>();

export const LOCK_GROUP = sql`
SELECT 1 FROM scim_groups g WHERE ${GROUP_OF_WORKSPACE} AND g.id = ${uuid('id')} FOR UPDATE`.rows();
/** No row where another one has the name. */
export const ADD_GROUP = sql`
INSERT INTO scim_groups (id, workspace_id, display_name, external_id)
VALUES (${uuid('id')}, ${uuid('workspaceId')}, ${text('displayName')}, ${textOrNull('externalId')})
ON CONFLICT DO NOTHING RETURNING 1`.rows();
export const CHANGE_GROUP = sql`
UPDATE scim_groups g SET display_name = ${text('displayName')}, external_id = ${textOrNull('externalId')}, updated_at = now()
WHERE ${GROUP_OF_WORKSPACE} AND g.id = ${uuid('id')} AND NOT EXISTS (
  SELECT FROM scim_groups o
  WHERE o.workspace_id = g.workspace_id AND o.id <> g.id AND lower(o.display_name) = lower(${text('displayName')}))
RETURNING 1`.rows();
export const DELETE_GROUP = sql`DELETE FROM scim_groups g WHERE ${GROUP_OF_WORKSPACE} AND g.id = ${uuid('id')}`.rows();

/** Gives a group these members and no others. Resolves with the people whose groups changed. */
export const SET_MEMBERS = sql`
WITH wanted AS (
  SELECT s.id FROM scim_users s WHERE ${OF_WORKSPACE} AND s.id = ANY(${uuids('members')})),
gone AS (
  DELETE FROM scim_group_members gm WHERE gm.group_id = ${uuid('id')} AND NOT EXISTS (SELECT FROM wanted w WHERE w.id = gm.scim_user_id)
  RETURNING gm.scim_user_id AS id),
come AS (
  INSERT INTO scim_group_members (group_id, scim_user_id) SELECT ${uuid('id')}, id FROM wanted ON CONFLICT DO NOTHING
  RETURNING scim_user_id AS id)
SELECT id FROM gone UNION SELECT id FROM come`.rows<{ id: string }>();

/** What the groups of a person are called. */
export const GROUPS_OF = sql`
SELECT g.display_name AS "displayName" FROM scim_group_members gm JOIN scim_groups g ON g.id = gm.group_id
WHERE gm.scim_user_id = ${uuid('id')}`.rows<{ displayName: string }>();

/** How many of these are people of the workspace's directory. */
export const COUNT_PEOPLE = sql`
SELECT count(*)::int AS count FROM scim_users s WHERE ${OF_WORKSPACE} AND s.id = ANY(${uuids('members')})`.rows<{
  count: number;
}>();

/** Members whose membership the directory has made, with what rules go by; in the order in which memberships are locked. */
export const STANDINGS = sql`
SELECT s.user_id AS "userId", u.email, m.role, ARRAY(
  SELECT g.display_name FROM scim_group_members gm JOIN scim_groups g ON g.id = gm.group_id WHERE gm.scim_user_id = s.id) AS groups
FROM scim_users s JOIN users u ON u.id = s.user_id
JOIN memberships m ON m.workspace_id = s.workspace_id AND m.user_id = s.user_id
WHERE ${OF_WORKSPACE} AND s.id = ANY(${uuids('people')}) AND m.created_at = s.member_since ORDER BY s.user_id`.rows<Standing>();

/** A member as rules see it. */
export interface Standing {
  userId: string;
  email: string | null;
  role: string;
  groups: string[];
}
