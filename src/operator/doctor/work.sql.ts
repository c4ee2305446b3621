// What waits and what is stuck, of all processes of the installation.
import { int, raw, sql } from '../../platform/database/sql.js';

/** Every worker polls for work each second on connections of this name; an api has none. */
const WORKERS = raw(`(
  SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'millwright polling')`);

const ageOf = (since: string) => raw(`coalesce(extract(epoch FROM now() - min(${since})), 0)::float8`);

/** What waits: how much, and for how many seconds the first of it. */
export interface Waiting {
  n: number;
  age: number;
}
export interface Queues {
  workers: number;
  /** Runs under a lease that has not ended. */
  working: number;
  runs: Waiting;
  automations: Waiting;
  jobs: Waiting;
  failedJobs: number;
  events: Waiting;
}

// A run that was handed back or recovered waits since then: its task says so.
const QUEUED = sql`
SELECT count(*)::int AS n, ${ageOf('greatest(r.created_at, t.updated_at)')} AS age
FROM runs r JOIN tasks t ON t.id = r.task_id WHERE r.status = 'queued'`;
export const DUE = sql`
SELECT count(*)::int AS n, ${ageOf('next_run_at')} AS age FROM automations
WHERE status = 'active' AND next_run_at <= schedule_now()`;
const JOBS = sql`SELECT count(*)::int AS n, ${ageOf('due_at')} AS age FROM jobs WHERE status = 'queued' AND due_at <= now()`;
// Of handlers that some process has had lately: one that was removed reads no more, and is forgotten after a time.
export const UNREAD = sql`
SELECT count(*)::int AS n, ${ageOf('e.created_at')} AS age FROM event_handlers h CROSS JOIN LATERAL (
  SELECT created_at FROM workspace_events w WHERE (w.xid, w.id) > (h.xid, h.id) ORDER BY w.xid, w.id LIMIT 1) e
WHERE h.seen_at > now() - interval '2 hours'`;

export const QUEUES = sql`
SELECT ${WORKERS} AS workers,
  (SELECT count(*)::int FROM runs WHERE status = 'running' AND lease_until > now()) AS working,
  (SELECT row_to_json(q) FROM (${QUEUED}) q) AS runs,
  (SELECT row_to_json(q) FROM (${DUE}) q) AS automations,
  (SELECT row_to_json(q) FROM (${JOBS}) q) AS jobs,
  (SELECT count(*)::int FROM jobs WHERE status = 'failed') AS "failedJobs",
  (SELECT row_to_json(q) FROM (${UNREAD}) q) AS events`.rows<Queues>();

/** Work whose lease has run out without anybody taking it over. */
export interface Stuck {
  workers: number;
  runs: number;
  /** Some of their tasks. */
  tasks: string[];
  jobs: number;
  /** Seconds since the first of the leases ended. */
  age: number;
}

const EXPIRED = sql`status = 'running' AND lease_until < now() - make_interval(secs => ${int('seconds')})`;
export const STUCK = sql`
SELECT ${WORKERS} AS workers, runs.n AS runs, coalesce(runs.tasks[1:3], '{}') AS tasks, jobs.n AS jobs, greatest(runs.age, jobs.age) AS age
FROM (SELECT count(*)::int AS n, array_agg(task_id::text ORDER BY lease_until) AS tasks, ${ageOf('lease_until')} AS age FROM runs WHERE ${EXPIRED}) runs,
  (SELECT count(*)::int AS n, ${ageOf('lease_until')} AS age FROM jobs WHERE ${EXPIRED}) jobs`.rows<Stuck>();
