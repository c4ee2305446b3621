// What a member wants to be told, and which browsers take it. Each statement is of the caller alone.
import { USER, WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { bool, bytes, bytesOrNull, int, jsonb, raw, sql, text, texts, uuid } from '../../platform/database/sql.js';
import { NoticeSettings, type Quiet } from './notice-settings.entity.js';

const SETTINGS = columns(NoticeSettings, 's', ['needsYou', 'finished', 'failed', 'hookUrl', 'quiet', 'detail']);
const MINE = (alias: string) => sql`${raw(alias)}.workspace_id = ${WORKSPACE} AND ${raw(alias)}.user_id = ${USER}`;
const BROWSERS = sql`(SELECT count(*)::int FROM push_subscriptions p WHERE ${MINE('p')})`;

type Row<T> = { [K in keyof T]: T[K] | null };
/** `needsYou` is null where the member has set nothing. */
export type SettingsRow = Row<typeof SETTINGS.row> & { subscriptions: number };

export const READ = sql`
SELECT ${SETTINGS}, ${BROWSERS} AS subscriptions
FROM (SELECT) one LEFT JOIN notice_settings s ON ${MINE('s')}`.rows<SettingsRow>();

export const WRITE = sql`
INSERT INTO notice_settings AS s (workspace_id, user_id, needs_you, finished, failed, hook_url, quiet, detail)
VALUES (${WORKSPACE}, ${USER}, ${texts('needsYou')}, ${texts('finished')}, ${texts('failed')}, ${bytesOrNull('hookUrl')},
  ${jsonb<Quiet | null>()('quiet')}, ${bool('detail')})
ON CONFLICT (workspace_id, user_id) DO UPDATE SET needs_you = excluded.needs_you, finished = excluded.finished, failed = excluded.failed,
  hook_url = excluded.hook_url, quiet = excluded.quiet, detail = excluded.detail, updated_at = now()`.rows();

/** What waits for the end of the quiet hours is looked at anew: they may be others now. */
export const LOOK_AGAIN = sql`
UPDATE personal_notices n SET due_at = clock_timestamp() WHERE ${MINE('n')} AND n.status = 'pending' AND n.attempts = 0`.rows();

/** One after the other, so that two of them do not both count one too few. */
export const LOCK_MEMBER = sql`
SELECT 1 FROM memberships m WHERE ${MINE('m')} FOR NO KEY UPDATE`.rows();

const DIGEST = bytes('digest');

/** A browser belongs to the person who added it last: it shows nothing of other people any more, in no workspace. */
export const TAKE_FROM_OTHERS = sql`
DELETE FROM push_subscriptions p WHERE p.endpoint_digest = ${DIGEST} AND p.user_id <> ${USER}`.rows();

export const SUBSCRIBE = sql`
INSERT INTO push_subscriptions (id, workspace_id, user_id, endpoint_digest, subscription)
VALUES (${uuid('id')}, ${WORKSPACE}, ${USER}, ${DIGEST}, ${bytes('subscription')})
ON CONFLICT (workspace_id, user_id, endpoint_digest) DO UPDATE SET
  subscription = excluded.subscription, registered_at = clock_timestamp()`.rows();

export const DELETE_OLDEST = sql`
DELETE FROM push_subscriptions WHERE id IN (
  SELECT p.id FROM push_subscriptions p WHERE ${MINE('p')} ORDER BY p.registered_at DESC, p.id DESC OFFSET ${int('most')})`.rows();

export const UNSUBSCRIBE = sql`
DELETE FROM push_subscriptions p WHERE ${MINE('p')} AND p.endpoint_digest = ${DIGEST} RETURNING p.id`.rows<{
  id: string;
}>();

/** One test for each address of a channel. Answers how many there are. */
export const TEST = {
  push: sql`
INSERT INTO personal_notices (id, workspace_id, user_id, event_id, kind, channel, target)
SELECT gen_random_uuid(), p.workspace_id, p.user_id, ${text('eventId')}, 'test', 'push', p.id FROM push_subscriptions p WHERE ${MINE('p')}
RETURNING id`.rows<{ id: string }>(),
  hook: sql`
INSERT INTO personal_notices (id, workspace_id, user_id, event_id, kind, channel, target)
SELECT gen_random_uuid(), s.workspace_id, s.user_id, ${text('eventId')}, 'test', 'hook', s.user_id
FROM notice_settings s WHERE ${MINE('s')} AND s.hook_url IS NOT NULL
RETURNING id`.rows<{ id: string }>(),
  email: sql`
INSERT INTO personal_notices (id, workspace_id, user_id, event_id, kind, channel, target)
VALUES (gen_random_uuid(), ${WORKSPACE}, ${USER}, ${text('eventId')}, 'test', 'email', ${USER})
RETURNING id`.rows<{ id: string }>(),
};

/** What is 30 days old. */
export const FORGET = sql`
DELETE FROM personal_notices WHERE id = ANY(ARRAY(
  SELECT id FROM personal_notices WHERE created_at < now() - interval '30 days' ORDER BY created_at LIMIT ${int('batch')} FOR UPDATE SKIP LOCKED))
RETURNING 1`.rows();
