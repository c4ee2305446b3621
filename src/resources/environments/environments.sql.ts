// The statements of environments. Locks are taken in the order membership, workspace, environment, project, task; a task
// that is made takes its project first, with a lock that a delete of an environment does not wait for.
import { WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { int, intOrNull, sql, text, uuid } from '../../platform/database/sql.js';
import { newestFirst } from '../../platform/http/pages.js';
import { TAKEN } from '../agents/named-by-agents.sql.js';
import { Environment, EnvironmentBuild, EnvironmentVersion } from './environment.entity.js';

const ENVIRONMENT = columns(Environment, 'e', ['id', 'slug', 'name', 'version', 'createdById', 'createdAt', 'updatedAt']); // prettier-ignore
const DEFINITION = columns(EnvironmentVersion, 'v', ['definition']);
/** An environment with what its newest version is, and the name of who made it. */
export type EnvironmentRow = typeof ENVIRONMENT.row & typeof DEFINITION.row & { createdByName: string };

const SLUG = text('slug');
const SELECT = sql`
SELECT ${ENVIRONMENT}, ${DEFINITION}, u.name AS "createdByName"
FROM environments e JOIN environment_versions v ON v.environment_id = e.id AND v.version = e.version
JOIN users u ON u.id = e.created_by`;
const OWN = sql`e.workspace_id = ${WORKSPACE}`;
const NAMED = sql`${OWN} AND e.slug = ${SLUG}`;

export const GET = sql`${SELECT} WHERE ${NAMED}`.rows<EnvironmentRow>();
export const LIST = sql`${SELECT} WHERE ${OWN} ${newestFirst('e')}`.rows<EnvironmentRow>();
/** A row when the workspace has it. */
export const EXISTS = sql`SELECT 1 FROM environments e WHERE ${NAMED}`.rows();

/** Until the transaction ends it gets no other version. The row alone: after a wait for it the version that a join had found would be the old one. */
export const LOCK_TO_CHANGE = sql`SELECT 1 FROM environments e WHERE ${NAMED} FOR NO KEY UPDATE`.rows();
/** As {@link LOCK_TO_CHANGE}; besides, no task begins to use it. */
export const LOCK_TO_DELETE = sql`SELECT e.id FROM environments e WHERE ${NAMED} FOR UPDATE`.rows<{ id: string }>();

/** One after the other, so that two of them do not both count one too few, or have one slug. */
export const LOCK_WORKSPACE = sql`SELECT 1 FROM workspaces WHERE id = ${WORKSPACE} FOR NO KEY UPDATE`.rows();
/** Those of the workspace. `taken`: one of them has the slug. */
export const OTHERS = sql`
SELECT count(*)::int AS count, coalesce(bool_or(e.slug = ${SLUG}), false) AS taken FROM environments e WHERE ${OWN}`.rows<{
  count: number;
  taken: boolean;
}>();

/** By what it is used: a task that has not ended, or a version of an agent that new tasks may have. */
export const IN_USE = sql`
SELECT 'task' AS by, NULL AS name FROM tasks t WHERE t.environment_id = ${uuid('id')} AND t.status NOT IN ('completed', 'failed', 'cancelled')
UNION ALL
SELECT 'agent', a.name FROM ${TAKEN} AND v.definition -> 'environment' ->> 'slug' = ${SLUG}
LIMIT 1`.rows<{ by: 'task' | 'agent'; name: string | null }>();

/** For a new task: until the transaction ends it does not go, nor any version of it. The row alone, as {@link LOCK_TO_CHANGE}. `version`: the newest. */
export const HOLD =
  sql`SELECT e.id, e.version FROM environments e WHERE ${NAMED} FOR KEY SHARE`.rows<HeldEnvironment>();
export interface HeldEnvironment {
  id: string;
  version: number;
}

const VERSION = columns(EnvironmentVersion, 'v', ['version', 'definition', 'createdById', 'createdAt']);
/** With the name of who made it. */
export type VersionRow = typeof VERSION.row & { createdByName: string };
const VERSION_SELECT = sql`
SELECT ${VERSION}, u.name AS "createdByName" FROM environments e JOIN environment_versions v ON v.environment_id = e.id
JOIN users u ON u.id = v.created_by WHERE ${NAMED}`;
const AFTER = intOrNull('after');
/** The newest first. */
export const VERSIONS = sql`${VERSION_SELECT} AND (${AFTER} IS NULL OR v.version < ${AFTER})
ORDER BY v.version DESC LIMIT ${int('limit')}`.rows<VersionRow>();
export const GET_VERSION = sql`${VERSION_SELECT} AND v.version = ${int('version')}`.rows<VersionRow>();

const BUILD = columns(EnvironmentBuild, 'b', ['id', 'version', 'key', 'driver', 'state', 'files', 'bytes', 'log', 'error', 'createdAt', 'finishedAt']); // prettier-ignore
export type BuildRow = typeof BUILD.row;
export const BUILDS = sql`
SELECT ${BUILD} FROM environments e JOIN environment_builds b ON b.environment_id = e.id
WHERE ${NAMED} ${newestFirst('b')}`.rows<BuildRow>();
