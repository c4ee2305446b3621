// Who holds a job: add, claim, renew, end, recover. A claim takes from several queues at once, so that a look is one statement.
import { columns } from '../database/columns.js';
import {
  type Fragment,
  int,
  ints,
  jsonb,
  type None,
  raw,
  sql,
  text,
  textOrNull,
  texts,
  timeOrNull,
  uuid,
  uuids,
} from '../database/sql.js';
import { StoredJob } from './job.entity.js';

const ID = uuid('id');
const EPOCH = int('epoch');
const CLAIMED = columns(StoredJob, 'j', ['id', 'queue', 'share', 'data', 'attempts', 'epoch']);
export type ClaimedJob = typeof CLAIMED.row;

export const ADD = sql`
INSERT INTO jobs (id, queue, share, key, data, due_at)
VALUES (${ID}, ${text('queue')}, ${text('share')}, ${textOrNull('key')}, ${jsonb<object>()('data')}, coalesce(${timeOrNull('dueAt')}, now()))
ON CONFLICT (queue, key) WHERE key IS NOT NULL AND status <> 'failed' DO NOTHING`.rows();

/** The shares of queues that have something queued, one after the other: each look is at one entry of the index. */
const nextShare = (from: Fragment<None>, after: Fragment<None>) => sql`
SELECT w.queue, next.share FROM ${from} w CROSS JOIN LATERAL (
  SELECT share FROM jobs WHERE queue = w.queue AND status = 'queued' ${after} ORDER BY share LIMIT 1) next`;

/**
 * Takes what is due, of each queue as much as it has places for. A place goes to the share that has the fewest of this process, of these to the
 * job that has been due longest; a share has at most `most` (docs/decisions/0037). `heldQueues` and `heldShares`: what it has. By an array of ids: a join with `due`, of which
 * the planner expects a tenth of the table, reads all of it (117 ms of 200,000 jobs instead of 0.2).
 */
export const CLAIM = sql`
WITH RECURSIVE wanted AS (
  SELECT * FROM unnest(${texts('queues')}, ${ints('places')}, ${ints('most')}, ${ints('leases')}) AS w(queue, places, most, lease)),
shares AS (
  ${nextShare(raw('wanted'), raw(''))} UNION ALL ${nextShare(raw('shares'), raw('AND share > w.share'))}),
room AS (
  SELECT s.*, w.places, h.n, CASE s.share WHEN '' THEN w.places ELSE greatest(0, least(w.places, w.most - h.n)) END AS room
  FROM shares s JOIN wanted w ON w.queue = s.queue CROSS JOIN LATERAL (
    SELECT count(*)::int AS n FROM unnest(${texts('heldQueues')}, ${texts('heldShares')}) AS h(queue, share)
    WHERE h.queue = s.queue AND h.share = s.share) h),
open AS MATERIALIZED (
  SELECT next.id, r.queue, r.places, next.due_at, r.n + row_number() OVER (PARTITION BY r.queue, r.share ORDER BY next.due_at, next.id) AS turn
  FROM room r CROSS JOIN LATERAL (
    SELECT id, due_at FROM jobs WHERE queue = r.queue AND share = r.share AND status = 'queued' AND due_at <= now()
    ORDER BY due_at, id LIMIT r.room FOR UPDATE SKIP LOCKED) next),
due AS MATERIALIZED (
  SELECT id FROM (SELECT *, row_number() OVER (PARTITION BY queue ORDER BY turn, due_at, id) AS place FROM open) o WHERE place <= places)
UPDATE jobs j SET status = 'running', epoch = j.epoch + 1, attempts = j.attempts + 1,
  lease_until = clock_timestamp() + make_interval(secs => w.lease)
FROM wanted w WHERE j.id = ANY (ARRAY (SELECT id FROM due)) AND w.queue = j.queue
RETURNING ${CLAIMED}`.rows<ClaimedJob>();

/** Renews leases, and answers which jobs are still held. It waits for no lock: see RENEW of the runs. */
export const RENEW = sql`
WITH held AS (SELECT * FROM unnest(${uuids('ids')}, ${ints('epochs')}) AS h(id, epoch)),
free AS (
  SELECT j.id FROM jobs j JOIN held h ON h.id = j.id AND h.epoch = j.epoch
  WHERE j.status = 'running' ORDER BY j.id FOR UPDATE OF j SKIP LOCKED),
renewed AS (
  UPDATE jobs j SET lease_until = clock_timestamp() + make_interval(secs => ${int('leaseSeconds')}) FROM free
  WHERE j.id = free.id RETURNING j.id)
SELECT j.id, j.epoch, EXISTS (SELECT 1 FROM renewed WHERE renewed.id = j.id) AS renewed
FROM jobs j JOIN held h ON h.id = j.id AND h.epoch = j.epoch WHERE j.status = 'running'`.rows<
  Pick<ClaimedJob, 'id' | 'epoch'> & { renewed: boolean }
>();

/** The fence: a worker that was replaced touches no row. */
const MINE = sql`id = ${ID} AND epoch = ${EPOCH} AND status = 'running'`;
const TOUCHED = raw('RETURNING id');
type Touched = Pick<ClaimedJob, 'id'>;

export const DONE = sql`DELETE FROM jobs WHERE ${MINE} ${TOUCHED}`.rows<Touched>();

export const AGAIN = sql`
UPDATE jobs SET status = 'queued', lease_until = NULL, last_error = ${text('error')},
  due_at = now() + ${int('delayMs')} * interval '1 millisecond'
WHERE ${MINE} ${TOUCHED}`.rows<Touched>();

export const FAIL = sql`
UPDATE jobs SET status = 'failed', lease_until = NULL, last_error = ${text('error')}, failed_at = now()
WHERE ${MINE} ${TOUCHED}`.rows<Touched>();

/** Puts a job back as if it had not been begun. */
export const HAND_BACK = sql`
UPDATE jobs SET status = 'queued', lease_until = NULL, attempts = attempts - 1 WHERE ${MINE} ${TOUCHED}`.rows<Touched>();

/** What a job that has lost its worker has become. */
export type RecoveredJob = Pick<ClaimedJob, 'id' | 'queue'> & { failed: boolean };

/**
 * Takes jobs from workers that have not renewed their leases; one that has been begun as often as its queue allows fails. The
 * epoch moves at once, so that the silent worker is fenced before another may claim.
 */
export const RECOVER = sql`
WITH expired AS MATERIALIZED (
  SELECT j.id, w.attempts FROM jobs j JOIN unnest(${texts('queues')}, ${ints('attempts')}) AS w(queue, attempts) ON w.queue = j.queue
  WHERE j.status = 'running' AND j.lease_until < now() ORDER BY j.lease_until LIMIT 50 FOR UPDATE OF j SKIP LOCKED)
UPDATE jobs j SET epoch = j.epoch + 1, lease_until = NULL, last_error = 'The worker was lost while this ran.',
  status = CASE WHEN j.attempts < expired.attempts THEN 'queued' ELSE 'failed' END,
  failed_at = CASE WHEN j.attempts < expired.attempts THEN NULL ELSE now() END
FROM expired WHERE j.id = expired.id
RETURNING j.id, j.queue, j.status = 'failed' AS failed`.rows<RecoveredJob>();

// `least`: a lease that has ended already keeps its end.
export const END_LEASES = sql`
UPDATE jobs SET lease_until = least(lease_until, now()) WHERE status = 'running'`.rows();

export const FORGET = sql`
DELETE FROM jobs WHERE id = ANY(ARRAY(
  SELECT id FROM jobs WHERE status = 'failed' AND failed_at < now() - make_interval(days => ${int('days')})
  ORDER BY failed_at LIMIT ${int('batch')} FOR UPDATE SKIP LOCKED))
RETURNING 1`.rows();

/** Of a queue: how many jobs are due and have not begun, for how long the first of them, and how many have failed. */
export interface QueueFigures {
  queue: string;
  waiting: number;
  /** Seconds. */
  age: number;
  failed: number;
}
export const FIGURES = sql`
SELECT queue, count(*) FILTER (WHERE status = 'queued' AND due_at <= now())::float8 AS waiting,
  coalesce(extract(epoch FROM now() - min(due_at) FILTER (WHERE status = 'queued' AND due_at <= now())), 0)::float8 AS age,
  count(*) FILTER (WHERE status = 'failed')::float8 AS failed
FROM jobs GROUP BY queue`.rows<QueueFigures>();
