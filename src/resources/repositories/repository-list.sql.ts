import { WORKSPACE } from '../../access/auth/visibility.js';
import { sql } from '../../platform/database/sql.js';

/** Which repositories the last thousand tasks of the workspace that have one work on, and when the last of them was created. */
export const LAST_USED = sql`
SELECT url, max(created_at) AS "usedAt" FROM (
  SELECT repository ->> 'url' AS url, created_at FROM tasks
  WHERE workspace_id = ${WORKSPACE} AND repository IS NOT NULL ORDER BY created_at DESC LIMIT 1000) t
GROUP BY url`.rows<{ url: string; usedAt: Date }>();
