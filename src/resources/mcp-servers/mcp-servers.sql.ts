import { columns } from '../../platform/database/columns.js';
import { jsonb, sql, text, textOrNull, texts, uuid, uuidOrNull } from '../../platform/database/sql.js';
import { SeenMcpServer, StoredMcpOffer } from './mcp-server.entity.js';

const SEEN = columns(SeenMcpServer, 's', ['name', 'fingerprint', 'revision', 'tools', 'status', 'checkedAt']);
/** As the workspace may know them: programs where it has seen them itself. */
export const SEEN_SERVERS = sql`
SELECT ${SEEN} FROM mcp_servers s
WHERE s.name = ANY(${texts('names')}) AND (s.workspace_id IS NULL OR s.workspace_id = ${uuid('workspaceId')})`.rows<
  typeof SEEN.row
>();

/** `workspaceId` null: of a `url`. What was found of a server that is not reached now stays, while it is the same one. `tools` null: it was not reached. */
export const SAW = sql`
INSERT INTO mcp_servers AS s (id, workspace_id, name, fingerprint, revision, tools, status, checked_at)
VALUES (${uuid('id')}, ${uuidOrNull('workspaceId')}, ${text('name')}, ${text('fingerprint')}, ${textOrNull('revision')}, ${jsonb<SeenMcpServer['tools']>()('tools')},
  CASE WHEN ${textOrNull('revision')} IS NULL THEN 'unavailable' ELSE 'ready' END, now())
ON CONFLICT (workspace_id, name) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status, checked_at = excluded.checked_at,
  revision = coalesce(excluded.revision, CASE WHEN s.fingerprint = excluded.fingerprint THEN s.revision END),
  tools = coalesce(excluded.tools, CASE WHEN s.fingerprint = excluded.fingerprint THEN s.tools END)`.rows();

const OFFER = columns(StoredMcpOffer, 'o', ['offer']);
export const OFFER_OF = sql`SELECT ${OFFER} FROM mcp_offers o WHERE o.task_id = ${uuid('taskId')}`.rows<
  typeof OFFER.row
>();

/** Of a task that there is. */
export const KEEP_OFFER = sql`
INSERT INTO mcp_offers (task_id, offer) SELECT t.id, ${text('offer')}::json FROM tasks t WHERE t.id = ${uuid('taskId')} FOR KEY SHARE
ON CONFLICT (task_id) DO UPDATE SET offer = excluded.offer`.rows();
