import { visible, WORKSPACE } from '../../access/auth/visibility.js';
import { sql } from '../../platform/database/sql.js';

/** Which repositories the caller's tasks work on, among the last thousand of the workspace that have one, and when the last of them was created. */
export const LAST_USED = sql`
SELECT repository ->> 'url' AS url, max(created_at) AS "usedAt" FROM (
  SELECT workspace_id, project_id, created_by, repository, created_at FROM tasks
  WHERE workspace_id = ${WORKSPACE} AND repository IS NOT NULL ORDER BY created_at DESC LIMIT 1000) t
WHERE ${visible('t')}
GROUP BY repository ->> 'url'`.rows<{ url: string; usedAt: Date }>();
