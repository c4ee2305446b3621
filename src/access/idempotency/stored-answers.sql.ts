// The statements about stored answers of a task that is deleted: the task is locked first, then these records.
import { sql, text, texts, uuid } from '../../platform/database/sql.js';

// `coalesce(location, path)` is the expression of the index `idempotency_keys_object`.

/**
 * The records about some paths. A record that is locked stays: a request claims it anew, after its time, and waits for the
 * deleter's lock on the task. To wait for that request in turn would be a deadlock, and nobody can replay the record.
 */
export const FORGET = sql`
DELETE FROM idempotency_keys WHERE ctid IN (
  SELECT ctid FROM idempotency_keys
  WHERE coalesce(location, path) = ANY(${texts('paths')}) AND workspace_id = ${uuid('workspaceId')} FOR UPDATE SKIP LOCKED)`.rows();

/** The records of the creation of the task at `path`. `place` is good until the transaction ends. */
export const LOCK_CREATION = sql`
SELECT ctid::text AS place, body FROM idempotency_keys
WHERE coalesce(location, path) = ${text('path')} AND workspace_id = ${uuid('workspaceId')} AND path = '/v1/tasks'
FOR UPDATE`.rows<{ place: string; body: string }>();
export const REPLACE_BODY = sql`
UPDATE idempotency_keys SET body = ${text('body')} WHERE ctid = ${text('place')}::tid`.rows();
