import type { AuthContext } from './auth-context.js';

// Who sees what (reference §3), for every statement that reads or locks. $1 is the workspace, $2 the user, $3 whether the
// user sees everything in it; the statement itself keeps to the workspace.

/** The first three parameters of every such statement. */
export const scope = (auth: AuthContext): unknown[] => [auth.workspaceId, auth.userId, auth.seesEverything];

/**
 * A CTE of every statement that decides or begins a write: the membership first and until the commit, so that its removal
 * comes before or after all of this. Without one there is no row in it.
 */
export const MEMBER = `member AS (SELECT 1 FROM memberships WHERE workspace_id = $1 AND user_id = $2 FOR KEY SHARE)`;

/** Of a project `p`: its owner sees it, and all members when its visibility is `workspace`. */
export const PROJECT_SEEN = `($3::boolean OR p.visibility = 'workspace' OR p.owner_id = $2)`;

/**
 * Of a thing that may be in a project: whoever sees the project sees it, without a project its creator does.
 * Both are columns, `t.project_id` and `t.created_by`. The workspace stands inside as well: the database may look for all
 * projects that are seen before it looks at the first thing, and must not go through everybody's.
 */
export const seen = (projectId: string, createdBy: string): string =>
  `($3::boolean OR (${projectId} IS NULL AND ${createdBy} = $2) OR EXISTS (
  SELECT 1 FROM projects p WHERE p.id = ${projectId} AND p.workspace_id = $1 AND ${PROJECT_SEEN}))`;
