// Who is told what, who sends it, and what became of it. A notice is `sending` before anything of it leaves the process: see docs/decisions/0081.
import { visibleTo } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import {
  type Fragment,
  int,
  intOrNull,
  ints,
  type None,
  type Param,
  raw,
  sql,
  text,
  texts,
  uuid,
  uuidOrNull,
  uuids,
} from '../../platform/database/sql.js';
import { NEW_ID } from '../../platform/database/ids.js';
import { NoticeSettings } from '../../resources/personal-notices/notice-settings.entity.js';
import { PersonalNotice } from '../../resources/personal-notices/personal-notice.entity.js';
import { PushSubscription } from '../../resources/personal-notices/push-subscription.entity.js';

/** The channels that settings `s` have for a kind. */
const channelsFor = <K extends Fragment<None> | Param<{ kind: string }>>(kind: K) => sql`
  CASE ${kind} WHEN 'needs_you' THEN s.needs_you WHEN 'finished' THEN s.finished WHEN 'failed' THEN s.failed ELSE '{}' END`;

/** For the creator of a task, one for each address of each channel that the creator wants for this kind. */
export const TELL = sql`
INSERT INTO personal_notices (id, workspace_id, user_id, task_id, event_id, kind, interaction_id, channel, target)
SELECT ${raw(NEW_ID)}, w.workspace_id, w.user_id, ${uuid('taskId')}, ${text('eventId')}, ${text('kind')}, ${uuidOrNull('interactionId')}, a.channel, a.target
FROM (
  SELECT s.workspace_id, s.user_id, ${channelsFor(text('kind'))} AS channels
  FROM tasks t JOIN notice_settings s ON s.workspace_id = t.workspace_id AND s.user_id = t.created_by
  WHERE t.id = ${uuid('taskId')}) w
CROSS JOIN LATERAL (
  SELECT 'push' AS channel, p.id AS target FROM push_subscriptions p
  WHERE 'push' = ANY(w.channels) AND p.workspace_id = w.workspace_id AND p.user_id = w.user_id
  UNION ALL
  SELECT channel, w.user_id FROM unnest(w.channels) AS channel WHERE channel <> 'push') a
ON CONFLICT (event_id, user_id, channel, target) DO NOTHING
RETURNING id`.rows<{ id: string }>();

/** A row if there is something to send. */
export const LOOK = sql`SELECT 1 FROM personal_notices WHERE status = 'pending' AND due_at <= now() LIMIT 1`.rows();

/** The workspaces that have something pending, one after the other: each look is at one entry of the index. */
const WAITED_FOR = raw(`waiting AS (
  (SELECT workspace_id AS id FROM personal_notices WHERE status = 'pending' ORDER BY workspace_id LIMIT 1)
  UNION ALL
  SELECT (SELECT n.workspace_id FROM personal_notices n WHERE n.status = 'pending' AND n.workspace_id > waiting.id ORDER BY n.workspace_id LIMIT 1)
  FROM waiting WHERE waiting.id IS NOT NULL)`);

const NOTICE = columns(PersonalNotice, 'n', [
  'id',
  'workspaceId',
  'userId',
  'taskId',
  'kind',
  'channel',
  'target',
  'attempts',
]);
const SETTINGS = columns(NoticeSettings, 's', ['hookUrl', 'quiet', 'detail']);
const BROWSER = columns(PushSubscription, 'p', ['subscription']);
type OrNull<T> = { [K in keyof T]: T[K] | null };

/** `allowed`: the person still wants it, still sees the task, and it is still so. */
export type DueNotice = typeof NOTICE.row &
  OrNull<typeof SETTINGS.row & typeof BROWSER.row> & {
    email: string | null;
    title: string | null;
    question: string | null;
    allowed: boolean;
  };

const SEEN = visibleTo(
  { workspace: raw('n.workspace_id'), user: raw('n.user_id'), everything: raw(`m.role IN ('owner', 'admin')`) },
  't',
);
const STILL_SO = raw(`CASE n.kind WHEN 'needs_you' THEN i.id IS NOT NULL
  WHEN 'finished' THEN t.status = 'completed' WHEN 'failed' THEN t.status = 'failed' END`);

/**
 * Locks what is due until the transaction ends, by the turns of the workspaces, with all that decides about it. `heldWorkspaces` and
 * `heldCounts`: how much this process is sending for which; a workspace has at most `share` of the `places`.
 */
export const DUE = sql`
WITH RECURSIVE ${WAITED_FOR},
open AS MATERIALIZED (
  SELECT next.id, next.due_at, coalesce(h.n, 0) + row_number() OVER (PARTITION BY w.id ORDER BY next.due_at, next.id) AS turn
  FROM waiting w LEFT JOIN unnest(${uuids('heldWorkspaces')}, ${ints('heldCounts')}) AS h(id, n) ON h.id = w.id
  CROSS JOIN LATERAL (
    SELECT o.id, o.due_at FROM personal_notices o
    WHERE o.workspace_id = w.id AND o.status = 'pending' AND o.due_at <= now()
    ORDER BY o.due_at, o.id LIMIT greatest(0, ${int('share')} - coalesce(h.n, 0)) FOR UPDATE SKIP LOCKED) next),
due AS MATERIALIZED (SELECT id FROM open ORDER BY turn, due_at, id LIMIT ${int('places')})
SELECT ${NOTICE}, ${SETTINGS}, ${BROWSER}, u.email, t.title, i.question,
  CASE WHEN n.kind = 'test' THEN true
    ELSE coalesce(n.channel = ANY(${channelsFor(raw('n.kind'))}) AND ${STILL_SO} AND ${SEEN}, false) END AS allowed
FROM due JOIN personal_notices n ON n.id = due.id
JOIN memberships m ON m.workspace_id = n.workspace_id AND m.user_id = n.user_id
JOIN users u ON u.id = n.user_id
LEFT JOIN notice_settings s ON s.workspace_id = n.workspace_id AND s.user_id = n.user_id
LEFT JOIN push_subscriptions p ON n.channel = 'push' AND p.id = n.target
LEFT JOIN tasks t ON t.id = n.task_id
LEFT JOIN interactions i ON i.id = n.interaction_id AND i.status = 'pending'`.rows<DueNotice>();

/** What becomes of those that {@link DUE} has locked: `sending` from now on, `dropped`, or `pending` until later. */
export const DECIDE = sql`
UPDATE personal_notices n SET status = d.status, attempts = n.attempts + (d.status = 'sending')::int,
  due_at = d.due_at
FROM unnest(${uuids('ids')}, ${texts('statuses')}, ${texts('dues')}::timestamptz[]) AS d(id, status, due_at) WHERE n.id = d.id`.rows();

/** What became of an attempt. With `wait`, in seconds, it is pending again. Nothing, when it counts as lost by now. */
export const RECORD = sql`
UPDATE personal_notices SET status = ${text('status')},
  due_at = CASE WHEN ${intOrNull('wait')} IS NULL THEN due_at ELSE clock_timestamp() + make_interval(secs => ${intOrNull('wait')}) END
WHERE id = ${uuid('id')} AND status = 'sending' AND attempts = ${int('attempts')}`.rows();

/** The push service says that there is no such browser any more. */
export const FORGET_BROWSER = sql`DELETE FROM push_subscriptions WHERE id = ${uuid('id')}`.rows();

/** Those whose process has ended while it sent them. No attempt takes so long. */
export const LOSE = sql`
UPDATE personal_notices SET status = 'lost' WHERE status = 'sending' AND due_at < now() - interval '5 minutes' RETURNING id`.rows<{
  id: string;
}>();
