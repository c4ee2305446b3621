// The statements of projects. Locks are taken in the order membership, environment, project, automations by id, tasks by id, run, file.
import { VISIBLE_PROJECT } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { raw, sql, uuid } from '../../platform/database/sql.js';
import { newestFirst } from '../../platform/http/pages.js';
import { Project } from './project.entity.js';

const PROJECT = columns(Project, 'p', [
  'id',
  'name',
  'description',
  'visibility',
  'tags',
  'checks',
  'maxRepairs',
  'ownerId',
  'createdAt',
  'updatedAt',
]);
/** A project with the name of its owner and the slug of its environment. */
export type ProjectRow = typeof PROJECT.row & { ownerName: string; environment: string | null };

const SELECT = sql`SELECT ${PROJECT}, u.name AS "ownerName", e.slug AS environment
FROM projects p JOIN users u ON u.id = p.owner_id LEFT JOIN environments e ON e.id = p.environment_id`;
const VISIBLE = sql`${VISIBLE_PROJECT} AND p.id = ${uuid('id')}`;

/** A project that the caller sees. */
export const GET = sql`${SELECT} WHERE ${VISIBLE}`.rows<ProjectRow>();

/** A row when the caller sees the project. */
export const SEES = sql`SELECT 1 FROM projects p WHERE ${VISIBLE}`.rows();

/** As {@link SEES}; the project is then not deleted until the transaction ends. */
export const HOLD = sql`SELECT 1 FROM projects p WHERE ${VISIBLE} FOR KEY SHARE`.rows();

export const LIST = sql`${SELECT} WHERE ${VISIBLE_PROJECT} ${newestFirst('p')}`.rows<ProjectRow>();

const OWNER = columns(Project, 'p', ['ownerId']);
const lock = (strength: 'FOR NO KEY UPDATE' | 'FOR UPDATE') =>
  sql`
SELECT ${OWNER} FROM projects p WHERE ${VISIBLE} ${raw(strength)} OF p`.rows<typeof OWNER.row>();
/** A project that the caller sees. No other transaction changes or deletes it until this one ends. */
export const LOCK_TO_CHANGE = lock('FOR NO KEY UPDATE');
/** As {@link LOCK_TO_CHANGE}; besides, nothing is put into the project. */
export const LOCK_TO_DELETE = lock('FOR UPDATE');

/** For a caller who holds the lock of the project. */
export const READ = sql`${SELECT} WHERE p.id = ${uuid('id')}`.rows<ProjectRow>();

// By id: every transaction locks several automations, or tasks, in this order. The tasks of one project then wait for nothing but each other.
export const LOCK_AUTOMATIONS = sql`
SELECT 1 FROM automations WHERE project_id = ${uuid('id')} ORDER BY id FOR UPDATE`.rows();
export const UNGROUP_AUTOMATIONS = sql`
UPDATE automations SET project_id = NULL, updated_at = now() WHERE project_id = ${uuid('id')}`.rows();
export const LOCK_TASKS = sql`SELECT 1 FROM tasks WHERE project_id = ${uuid('id')} ORDER BY id FOR UPDATE`.rows();
export const UNGROUP_TASKS = sql`
UPDATE tasks SET project_id = NULL, updated_at = now() WHERE project_id = ${uuid('id')}`.rows();
