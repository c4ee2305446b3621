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

/** Who sees, as pieces of SQL: of the request's caller, or of one that a statement looks up itself. */
export interface Viewer<P> {
  workspace: Fragment<P>;
  user: Fragment<P>;
  /** Owners and admins. */
  everything: Fragment<P>;
}

const CALLER: Viewer<{ auth: Actor }> = {
  workspace: sql`${WORKSPACE}`,
  user: sql`${USER}`,
  everything: sql`${SEES_EVERYTHING}`,
};

const visibleProject = <P>({ workspace, user, everything }: Viewer<P>): Fragment<P> =>
  sql`p.workspace_id = ${workspace}
  AND (${everything} OR p.visibility = 'workspace' OR p.owner_id = ${user})` as Fragment<P>;

/** Of a project `p`: its owner sees it, and all members do when its visibility is `workspace`. */
export const VISIBLE_PROJECT = visibleProject(CALLER);

/**
 * Of a thing that may be in a project, under an alias: who sees the project sees it, and without a project its creator does.
 * The workspace stands inside as well: the database may look for all projects that are visible before it looks at the first
 * thing, and must not go through those of other workspaces.
 */
export function visibleTo<P>(viewer: Viewer<P>, alias: string, creator = 'created_by'): Fragment<P> {
  const column = (name: string) => raw(`${alias}.${name}`);
  const { workspace, user, everything } = viewer;
  return sql`${column('workspace_id')} = ${workspace} AND (${everything}
  OR (${column('project_id')} IS NULL AND ${column(creator)} = ${user})
  OR EXISTS (SELECT 1 FROM projects p WHERE p.id = ${column('project_id')} AND ${visibleProject(viewer)}))` as Fragment<P>;
}

/** {@link visibleTo} the caller. */
export function visible(alias: string, creator = 'created_by'): Fragment<{ auth: Actor }> {
  return visibleTo(CALLER, alias, creator);
}

/**
 * A CTE for a write outside of a unit of work, which holds the membership by itself: the membership first and until the commit,
 * so that its removal comes before or after all of this. Without one there is no row in it.
 */
export const HELD_MEMBER = sql`member AS (
  SELECT 1 FROM memberships WHERE workspace_id = ${WORKSPACE} AND user_id = ${USER} FOR KEY SHARE)`;
