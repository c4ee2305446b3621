// The statements of what snapshots are made of.
import { bigint, sql, text, uuid } from '../../platform/database/sql.js';

const WORKSPACE_ID = uuid('workspaceId');

/**
 * Where some blobs lie. An object that nobody has named for half a day is left out: it may go before the snapshot that is being made names it.
 * Text in and out is JSON, which this process passes on without reading it.
 */
export const KNOWN = sql`
SELECT json_agg(json_build_array(encode(b.sha256, 'hex'), b.object, b."offset", b.length, b.start, b.size))::text AS places
FROM snapshot_blobs b JOIN snapshot_objects o ON o.workspace_id = b.workspace_id AND o.sha256 = b.object
WHERE b.workspace_id = ${WORKSPACE_ID}
  AND b.sha256 IN (SELECT decode(d, 'hex') FROM json_array_elements_text(${text('digests')}::json) d)
  AND (o.unnamed_at IS NULL OR o.unnamed_at > now() - interval '12 hours')`.rows<{ places: string | null }>();

/** An object that is stored, with the blobs in it. They are inserted in one order everywhere, so that two snapshots wait for each other at most. */
export const RECORD = sql`
WITH object AS (
  INSERT INTO snapshot_objects AS o (workspace_id, sha256, bytes) VALUES (${WORKSPACE_ID}, ${text('sha256')}, ${bigint('size')})
  ON CONFLICT (workspace_id, sha256) DO UPDATE SET unnamed_at = CASE WHEN o.unnamed_at IS NOT NULL THEN now() END
  RETURNING o.sha256)
INSERT INTO snapshot_blobs (workspace_id, sha256, object, "offset", length, start, size)
SELECT ${WORKSPACE_ID}, decode(b ->> 0, 'hex'), object.sha256, (b ->> 1)::int, (b ->> 2)::int, (b ->> 3)::int, (b ->> 4)::int
FROM object, json_array_elements(${text('blobs')}::json) b ORDER BY 2
ON CONFLICT (workspace_id, sha256) DO UPDATE SET object = EXCLUDED.object, "offset" = EXCLUDED."offset",
  length = EXCLUDED.length, start = EXCLUDED.start, size = EXCLUDED.size`.rows();

/** A use that is being inserted holds the object, which is then passed over. */
export const DELETE_UNNAMED = sql`
DELETE FROM snapshot_objects WHERE (workspace_id, sha256) IN (
  SELECT workspace_id, sha256 FROM snapshot_objects o
  WHERE unnamed_at < now() - interval '1 day'
    AND NOT EXISTS (SELECT FROM snapshot_uses u WHERE u.workspace_id = o.workspace_id AND u.object = o.sha256)
    AND NOT EXISTS (SELECT FROM environment_build_uses u WHERE u.workspace_id = o.workspace_id AND u.object = o.sha256)
  ORDER BY unnamed_at LIMIT 100 FOR UPDATE SKIP LOCKED)
RETURNING 1`.rows();
