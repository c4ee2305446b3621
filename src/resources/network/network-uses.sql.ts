import type { NetworkUse } from '../../engine/sandbox/network/network-use.js';
import { columns } from '../../platform/database/columns.js';
import { int, intOrNull, jsonb, sql, textOrNull, uuid } from '../../platform/database/sql.js';
import { NetworkUseCount } from './network-use.entity.js';

const USE = columns(NetworkUseCount, 'c', ['host', 'port', 'connections', 'failed', 'refused', 'refusedFor', 'bytesIn', 'bytesOut', 'firstAt', 'lastAt']); // prettier-ignore
export type NetworkUseRow = typeof USE.row;

const TASK_ID = uuid('taskId');

/** One page of a task that the caller has seen, by host and port. */
export const PAGE = sql`
SELECT ${USE} FROM network_uses c WHERE c.task_id = ${TASK_ID}
  AND (${textOrNull('afterHost')} IS NULL OR (c.host, c.port) > (${textOrNull('afterHost')}, ${intOrNull('afterPort')}))
ORDER BY c.host, c.port LIMIT ${int('limit')}`.rows<NetworkUseRow>();

/**
 * Adds to what is counted of a task; one host may be there several times. Once the task has `most` rows, further hosts are counted as `others`: a
 * sandbox may make up any number of them. A task that is gone by now counts nothing.
 */
export const COUNT = sql`
INSERT INTO network_uses AS c
  (task_id, host, port, connections, failed, refused, refused_for, bytes_in, bytes_out, first_at, last_at)
SELECT t.id, u.host, u.port, sum(u.connections), sum(u.failed), sum(u.refused),
  (array_agg(u."refusedFor" ORDER BY u."lastAt" DESC) FILTER (WHERE u."refusedFor" IS NOT NULL))[1],
  sum(u."bytesIn"), sum(u."bytesOut"), min(u."firstAt"), max(u."lastAt")
FROM tasks t, LATERAL (
  SELECT CASE WHEN own.apart THEN g.host ELSE 'others' END AS host, CASE WHEN own.apart THEN g.port ELSE 0 END AS port,
    g.connections, g.failed, g.refused, g."refusedFor", g."bytesIn", g."bytesOut", g."firstAt", g."lastAt"
  FROM jsonb_to_recordset(${jsonb<readonly NetworkUse[]>()('uses')}) AS g(host text, port int, connections bigint, failed bigint,
    refused bigint, "refusedFor" text, "bytesIn" bigint, "bytesOut" bigint, "firstAt" timestamptz, "lastAt" timestamptz),
  LATERAL (SELECT (SELECT count(*) FROM network_uses k WHERE k.task_id = t.id) < ${int('most')}
    OR EXISTS (SELECT FROM network_uses k WHERE k.task_id = t.id AND k.host = g.host AND k.port = g.port) AS apart) own) u
WHERE t.id = ${TASK_ID}
GROUP BY t.id, u.host, u.port
ON CONFLICT (task_id, host, port) DO UPDATE SET connections = c.connections + excluded.connections, failed = c.failed + excluded.failed,
  refused = c.refused + excluded.refused, refused_for = coalesce(excluded.refused_for, c.refused_for),
  bytes_in = c.bytes_in + excluded.bytes_in, bytes_out = c.bytes_out + excluded.bytes_out, last_at = greatest(c.last_at, excluded.last_at)`.rows();
