// The statements of secrets. Locks are taken in the order membership, project, workspace, secret.
import { USER, VISIBLE_PROJECT, WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import {
  sql,
  text,
  textOrNull,
  texts,
  textsOrNull,
  time,
  uuid,
  uuidOrNull,
  uuids,
} from '../../platform/database/sql.js';
import { newestFirst } from '../../platform/http/pages.js';
import { Secret } from './secret.entity.js';

const SECRET = columns(Secret, 's', [
  'id',
  'name',
  'description',
  'scope',
  'projectId',
  'env',
  'bindings',
  'version',
  'usedAt',
  'createdBy',
  'createdAt',
  'updatedAt',
]);
/** A secret without its value, with the name of who made it. */
export type SecretRow = typeof SECRET.row & { createdByName: string };

const ID = uuid('id');
/** The workspace's, those of projects that the caller sees, and the caller's own. */
const SEEN = sql`s.workspace_id = ${WORKSPACE} AND (s.scope = 'workspace' OR s.user_id = ${USER}
  OR EXISTS (SELECT 1 FROM projects p WHERE p.id = s.project_id AND ${VISIBLE_PROJECT}))`;
/** For conditions on `s`. */
export const SELECT_SECRETS = sql`
SELECT ${SECRET}, u.name AS "createdByName" FROM secrets s JOIN users u ON u.id = s.created_by`;

export const GET = sql`${SELECT_SECRETS} WHERE ${SEEN} AND s.id = ${ID}`.rows<SecretRow>();
export const LIST = sql`${SELECT_SECRETS} WHERE ${SEEN} ${newestFirst('s')}`.rows<SecretRow>();

/** Until the transaction ends it neither changes nor goes. */
export const LOCK = sql`${SELECT_SECRETS} WHERE ${SEEN} AND s.id = ${ID} FOR UPDATE OF s`.rows<SecretRow>();

/** One after the other, so that two of them do not both count one too few, or have one name. */
export const LOCK_WORKSPACE = sql`SELECT 1 FROM workspaces WHERE id = ${WORKSPACE} FOR NO KEY UPDATE`.rows();

/** Those of the workspace but one. `taken`: the name has a secret of this scope; `holder`: the one of this scope that has the variable. */
export const OTHERS = sql`
SELECT count(*)::int AS count, coalesce(bool_or(s.name = ${textOrNull('name')} AND own.scope), false) AS taken,
  min(s.name) FILTER (WHERE s.env = ${textOrNull('env')} AND own.scope) AS holder
FROM secrets s, LATERAL (SELECT s.scope = ${text('scope')} AND s.project_id IS NOT DISTINCT FROM ${uuidOrNull('projectId')}
  AND (s.user_id IS NULL OR s.user_id = ${USER}) AS scope) own
WHERE s.workspace_id = ${WORKSPACE} AND s.id IS DISTINCT FROM ${uuidOrNull('id')}`.rows<{
  count: number;
  taken: boolean;
  holder: string | null;
}>();

const USED = columns(Secret, 's', ['id', 'name', 'scope', 'env', 'version', 'bindings', 'value']);
/** A secret as a task uses it: with its sealed value. */
export type UsedRow = typeof USED.row;

/** What the tasks of a user in a project may use, of each name the nearest, and then of each variable. A viewer, and who is no member any more, has none. */
export const USABLE = sql`
SELECT id, name, scope, env, version, bindings, value FROM (SELECT DISTINCT ON (near.env) * FROM (
SELECT DISTINCT ON (s.name) ${USED}, array_position(ARRAY['user', 'project', 'workspace'], s.scope) AS distance
FROM secrets s JOIN memberships m ON m.workspace_id = s.workspace_id AND m.user_id = ${uuid('userId')} AND m.role <> 'viewer'
WHERE s.workspace_id = ${uuid('workspaceId')} AND (${textsOrNull('names')} IS NULL OR s.name = ANY(${textsOrNull('names')}))
  AND (s.scope = 'workspace' OR s.project_id = ${uuidOrNull('projectId')} OR s.user_id = ${uuid('userId')})
ORDER BY s.name, distance) near ORDER BY near.env, near.distance, near.name) one ORDER BY one.name`.rows<UsedRow>();

/** The one of a name that belongs to all members of the workspace. */
export const NAMED_IN = sql`
SELECT ${USED} FROM secrets s JOIN workspaces w ON w.id = s.workspace_id
WHERE w.slug = ${text('slug')} AND s.scope = 'workspace' AND s.name = ${text('name')}`.rows<UsedRow>();

/** Those of a workspace that belong to all of its members, by their names. */
export const OF_WORKSPACE = sql`
SELECT ${USED} FROM secrets s
WHERE s.workspace_id = ${uuid('workspaceId')} AND s.scope = 'workspace' AND s.name = ANY(${texts('names')})
ORDER BY s.name`.rows<UsedRow>();

/** The time moves forward alone. By id: several transactions lock them in one order. */
export const SET_USED = sql`
UPDATE secrets SET used_at = ${time('at')}
WHERE id = ANY(ARRAY(SELECT id FROM secrets WHERE id = ANY(${uuids('ids')}) ORDER BY id FOR NO KEY UPDATE))
  AND (used_at IS NULL OR used_at < ${time('at')})`.rows();
