import { columns } from '../../platform/database/columns.js';
import { jsonb, sql, uuid, uuids } from '../../platform/database/sql.js';
import { SecretUseCount } from './secret-use.entity.js';

const USE = columns(SecretUseCount, 'c', ['secretId', 'name', 'host', 'requests', 'refused', 'masked', 'firstAt', 'lastAt']); // prettier-ignore
export type UseRow = typeof USE.row;

const TASK_ID = uuid('taskId');

/** Of a task that the caller has seen, by name and host. */
export const USES = sql`
SELECT ${USE} FROM secret_uses c WHERE c.task_id = ${TASK_ID} ORDER BY c.name, c.host`.rows<UseRow>();

/** Adds to what is counted of a task. `first`: the row is new. A task that is gone by now counts nothing. */
export const COUNT = sql`
INSERT INTO secret_uses AS c (task_id, secret_id, host, name, requests, refused, masked, first_at, last_at)
SELECT t.id, u."secretId", u.host, u.name, u.requests, u.refused, u.masked, u."firstAt", u."lastAt"
FROM tasks t, jsonb_to_recordset(${jsonb<readonly UseRow[]>()('uses')}) AS u(
  "secretId" uuid, host text, name text, requests bigint, refused bigint, masked bigint, "firstAt" timestamptz, "lastAt" timestamptz)
WHERE t.id = ${TASK_ID}
ON CONFLICT (task_id, secret_id, host) DO UPDATE SET name = excluded.name, requests = c.requests + excluded.requests,
  refused = c.refused + excluded.refused, masked = c.masked + excluded.masked, last_at = greatest(c.last_at, excluded.last_at)
RETURNING c.secret_id AS "secretId", c.host, xmax = 0 AS first`.rows<{
  secretId: string;
  host: string;
  first: boolean;
}>();

/** Another text for each change of the secrets of a workspace. One without secrets has no row. */
export const FINGERPRINTS = sql`
SELECT workspace_id AS "workspaceId", md5(string_agg(id || ' ' || version, ',' ORDER BY id)) AS fingerprint
FROM secrets WHERE workspace_id = ANY(${uuids('workspaceIds')}) GROUP BY workspace_id`.rows<{
  workspaceId: string;
  fingerprint: string;
}>();
