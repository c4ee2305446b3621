// The statements that delete a workspace. The last transaction locks the workspace first; the others lock what they delete.
import { raw, sql, uuid } from '../../platform/database/sql.js';

const ID = uuid('id');

/** In-flight requests of members hold their membership until they commit: after this there is none, and no new one. */
export const END_MEMBERS = sql`
WITH member AS (SELECT user_id FROM memberships WHERE workspace_id = ${ID} ORDER BY user_id FOR UPDATE)
DELETE FROM memberships m USING member WHERE m.workspace_id = ${ID} AND m.user_id = member.user_id`.rows();

const deleteSome = (table: string) =>
  sql`
DELETE FROM ${raw(table)} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${raw(table)} WHERE workspace_id = ${ID} LIMIT 2000))
RETURNING 1`.rows();

/**
 * Statements that delete a part of the rows with no consequences; one row for each deleted one. They come before the
 * workspace's own row: its cascade would take all of them in one statement. Files come before projects, for each project's
 * deletion looks for its files. Accounts go one at a time: the database looks through whole tables for what refers to each.
 */
export const DELETE_SOME = [
  ...['files', 'automations', 'projects', 'uploads', 'idempotency_keys', 'workspace_events', 'usage_ledger'].map(
    deleteSome,
  ),
  sql`DELETE FROM users WHERE id = (SELECT id FROM users WHERE service_of = ${ID} LIMIT 1) RETURNING 1`.rows(),
];

export const LOCK = sql`SELECT 1 FROM workspaces WHERE id = ${ID} FOR UPDATE`.rows();
export const IN_USE = sql`
SELECT 1 FROM memberships WHERE workspace_id = ${ID} UNION ALL SELECT 1 FROM tasks WHERE workspace_id = ${ID} LIMIT 1`.rows();
/** Bytes are stored a moment before the row that points at them: after an hour nobody stores anything there any more. */
export const REMOVE_STORAGE = sql`
INSERT INTO folder_removals (kind, id, not_before) VALUES ('storage', ${ID}, clock_timestamp() + interval '1 hour')
ON CONFLICT (kind, id) DO NOTHING`.rows();
export const DELETE = sql`DELETE FROM workspaces WHERE id = ${ID}`.rows();
