// Which machines there are, and which of them has the folder of a task (docs/decisions/0093).
import { columns } from '../../platform/database/columns.js';
import { bool, type Fragment, int, type None, raw, sql, text, uuid } from '../../platform/database/sql.js';
import { Worker } from './worker.entity.js';

const ID = uuid('workerId');
/** The machine of this process. */
export const MACHINE = uuid('machineId');

/** A worker that has said lately that it works: it says so every 5 seconds. */
const WORKS = raw(`seen_at > clock_timestamp() - interval '15 seconds'`);
/** A worker `o` that may take runs. */
const TAKES_RUNS = sql`(NOT o.draining AND o.${WORKS})`;
/** For how long a run is left to the machine that has the folder, also when a snapshot has all of it. */
const LEFT_FOR = raw(`interval '2 seconds'`);

const OTHER_TAKES_RUNS = sql`EXISTS (SELECT FROM workers o WHERE o.machine_id = t.machine_id AND ${TAKES_RUNS})`;

/**
 * Whether this machine may take a run of the task `t`: no other has the folder. When a snapshot has all of it, that other one takes no runs, or had
 * its time. Else it takes no runs and has not come back for the time of a lease: a restart takes less.
 */
export const mayTake = (
  run: Fragment<None>,
) => sql`(t.machine_id IS NULL OR t.machine_id = ${MACHINE} OR CASE WHEN t.folder_ahead
  THEN ${run}.created_at < now() - make_interval(secs => ${int('leaseSeconds')}) AND NOT ${OTHER_TAKES_RUNS}
  ELSE ${run}.created_at < now() - ${LEFT_FOR} OR NOT ${OTHER_TAKES_RUNS} END)`;

/** Says that this process works, and forgets those that have not for a day. `several`: another machine takes runs too. */
export const BEAT = sql`
WITH gone AS (DELETE FROM workers WHERE seen_at < now() - interval '1 day' AND id <> ${ID}),
self AS (
  INSERT INTO workers (id, machine_id, host, places, version, seen_at)
  VALUES (${ID}, ${MACHINE}, ${text('host')}, ${int('places')}, ${text('version')}, clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp() RETURNING draining)
SELECT self.draining, EXISTS (SELECT FROM workers o WHERE o.machine_id <> ${MACHINE} AND ${TAKES_RUNS}) AS several
FROM self`.rows<{ draining: boolean; several: boolean }>();

/** The process takes no run any more. */
export const LEAVE = sql`DELETE FROM workers WHERE id = ${ID}`.rows();

/** Tells the processes of a machine to take no new run. */
export const DRAIN = sql`
UPDATE workers SET draining = true WHERE machine_id = ${MACHINE}
RETURNING ${columns(Worker, 'workers', ['seenAt'])}, ${WORKS} AS works`.rows<
  Pick<Worker, 'seenAt'> & { works: boolean }
>();

/** A machine, and what its processes do together. */
export interface MachineRow {
  id: string;
  /** What the systems are called of its processes of the last day, also of those that have ended. */
  hosts: string[];
  /** Of these processes. */
  versions: string[];
  /** How many tasks it works on at once. */
  places: number;
  /** How many tasks whose folder it has are running: one that moves counts here until another machine has restored that. */
  running: number;
  /** Whether each of its processes was told to end. */
  draining: boolean;
  seenAt: Date;
  /** Whether it has said lately that it works. */
  working: boolean;
}

/** All that worked in the last day, or those that work now: each has at least one process. */
export const LIST = sql`
WITH running AS (
  SELECT t.machine_id, count(*)::int AS n FROM runs r JOIN tasks t ON t.id = r.task_id WHERE r.status = 'running' GROUP BY t.machine_id)
SELECT m.*, coalesce(running.n, 0) AS running
FROM (
  SELECT machine_id AS id, array_agg(DISTINCT host ORDER BY host) AS hosts, array_agg(DISTINCT version ORDER BY version) AS versions,
    coalesce(sum(places) FILTER (WHERE ${WORKS}), 0)::int AS places, bool_and(draining) AS draining, max(seen_at) AS "seenAt",
    bool_or(${WORKS}) AS working
  FROM workers GROUP BY machine_id) m
LEFT JOIN running ON running.machine_id = m.id
WHERE m.working OR ${bool('all')}
ORDER BY m.id`.rows<MachineRow>();
