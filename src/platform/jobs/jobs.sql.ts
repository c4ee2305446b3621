// Who holds a job: add, claim, renew, end, recover. A claim takes from several queues at once, so that a look is one statement.
import { jsonb, sql, text, textOrNull, timeOrNull, uuid } from '../database/sql.js';

const ID = uuid('id');

export const ADD = sql`
INSERT INTO jobs (id, queue, key, data, due_at)
VALUES (${ID}, ${text('queue')}, ${textOrNull('key')}, ${jsonb<object>()('data')}, coalesce(${timeOrNull('dueAt')}, now()))
ON CONFLICT (queue, key) WHERE key IS NOT NULL AND status <> 'failed' DO NOTHING`.rows();
