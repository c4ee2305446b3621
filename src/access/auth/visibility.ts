import { field, type Fragment, raw, sql } from '../../platform/database/sql.js';
import type { Actor } from './auth-context.js';

// Who sees what (reference §3), as pieces of SQL. A statement that holds one of them takes the whole `auth`.

const auth = field<Actor>();

/** The workspace of the caller. Every query starts from it: what is not of it is not found. */
export const WORKSPACE = auth('auth', 'workspaceId', 'uuid');
/** The user who calls. */
export const USER = auth('auth', 'userId', 'uuid');
/** Owners and admins see everything in the workspace. */
export const SEES_EVERYTHING = auth('auth', 'seesEverything', 'boolean');

/** Of a project `p`: its owner sees it, and all members do when its visibility is `workspace`. */
export const VISIBLE_PROJECT = sql`p.workspace_id = ${WORKSPACE}
  AND (${SEES_EVERYTHING} OR p.visibility = 'workspace' OR p.owner_id = ${USER})`;

/**
 * Of a thing that may be in a project, under an alias: who sees the project sees it, and without a project its creator does.
 * The workspace stands inside as well: the database may look for all projects that are visible before it looks at the first
 * thing, and must not go through those of other workspaces.
 */
export function visible(alias: string, creator = 'created_by'): Fragment<{ auth: Actor }> {
  const column = (name: string) => raw(`${alias}.${name}`);
  return sql`${column('workspace_id')} = ${WORKSPACE} AND (${SEES_EVERYTHING}
  OR (${column('project_id')} IS NULL AND ${column(creator)} = ${USER})
  OR EXISTS (SELECT 1 FROM projects p WHERE p.id = ${column('project_id')} AND ${VISIBLE_PROJECT}))`;
}

/**
 * A CTE for a write outside of a unit of work, which holds the membership by itself: the membership first and until the commit,
 * so that its removal comes before or after all of this. Without one there is no row in it.
 */
export const HELD_MEMBER = sql`member AS (
  SELECT 1 FROM memberships WHERE workspace_id = ${WORKSPACE} AND user_id = ${USER} FOR KEY SHARE)`;
