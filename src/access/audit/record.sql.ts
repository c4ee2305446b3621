// How rows come into the audit log. The default of `at` is the clock of the database, and the order of the seals is that of `xid`.
import { jsonb, raw, sql, text, textOrNull, texts, time, uuid, uuidOrNull } from '../../platform/database/sql.js';

const XID = raw('pg_current_xact_id()::text::bigint');

const COLUMNS = raw(
  'workspace_id, id, xid, actor_id, key_id, address, action, target_type, target_id, outcome, request_id',
);
const VALUES = sql`
${uuid('workspaceId')}, ${uuid('id')}, ${XID}, ${uuidOrNull('actorId')}, ${uuidOrNull('keyId')}, ${textOrNull('address')},
  ${text('action')}, ${textOrNull('targetType')}, ${textOrNull('targetId')}, 'done', ${uuidOrNull('requestId')}`;

/** An act that is done with its transaction. All values are plain: the statement travels with the commit. */
export const ACT = sql`INSERT INTO audit_log (${COLUMNS}) VALUES (${VALUES})`.rows();
/** A change, with the fields that were given. The operator’s acts have none: a database that was restored may not have the column yet. */
export const CHANGE = sql`INSERT INTO audit_log (${COLUMNS}, fields) VALUES (${VALUES}, ${texts('fields')})`.rows();

/** As {@link CHANGE}, unless there is one of the same fields since a time. */
export const CHANGE_ONCE = sql`
INSERT INTO audit_log (${COLUMNS}, fields) SELECT ${VALUES}, ${texts('fields')} WHERE NOT EXISTS (
  SELECT FROM audit_log a WHERE a.workspace_id = ${uuid('workspaceId')} AND a.action = ${text('action')} AND a.at >= ${time('since')}
    AND a.target_id = ${textOrNull('targetId')} AND a.fields = ${texts('fields')})`.rows();

/** A refusal, or with a `count` above one several. `age`: how long ago, in seconds. */
export interface RefusalRow {
  id: string;
  age: number;
  workspaceId: string;
  actorId: string;
  keyId: string;
  address: string | null;
  action: string;
  targetType: string | null;
  targetId: string | null;
  code: string | null;
  requestId: string | null;
  count: number;
}

export const REFUSALS = sql`
INSERT INTO audit_log (workspace_id, at, id, xid, actor_id, key_id, address, action, target_type, target_id, outcome, code,
  request_id, count)
SELECT "workspaceId", clock_timestamp() - make_interval(secs => age), id, ${XID}, "actorId", "keyId", address, action, "targetType",
  "targetId", 'refused', code, "requestId", count
FROM jsonb_to_recordset(${jsonb<readonly RefusalRow[]>()('rows')}) AS r(
  id uuid, age float8, "workspaceId" uuid, "actorId" uuid, "keyId" uuid, address text, action text, "targetType" text,
  "targetId" text, code text, "requestId" uuid, count int)`.rows();
