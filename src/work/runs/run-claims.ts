// Who holds a run: claim, lease, hand back, recover. Lock order everywhere: the task's row, then the run's.
import { Injectable } from '@nestjs/common';
import { plansOf } from '../../platform/config/config-file.js';
import { Env } from '../../platform/config/env.js';
import { Database } from '../../platform/database/database.js';
import { PgChannel } from '../../platform/signals/pg-channel.js';
import { ADD_DURATION, addDuration, closeOpenCalls } from '../../resources/tasks/task.sql.js';
import { statusesBefore } from '../../resources/tasks/task-status.js';
import type { ClaimedRun } from './claimed-run.js';
import { hasStatus } from './run-status.js';

/** Recoveries without a finished step between them before a run counts as poison (reference §5). */
const MAX_RECOVERIES = 5;

/** How many runs a workspace `w` may have running; the caps of the two plans are values of the statement. */
const CAP = (free: string, paid: string): string => `CASE w.plan WHEN 'free' THEN ${free}::int ELSE ${paid}::int END`;

// The task's row is the mutex. `run` re-checks its condition on the newest version of the row, so of two claims one wins.
// A first claim of a turn reads the waiting message (after a cancel or a failure: all that were sent before the one that set
// the task going again, and that one), an interrupting one before those that have waited longer. Every claim reads what is to
// steer the turn.
// `may_claim` (migration 0007) keeps the workspace at or below its plan's cap. It locks the workspace's row until the commit,
// so it comes when the task's row is held and nothing is left to wait for. A claim is one statement: a process that is
// stopped in the middle of it holds nothing.
const CLAIM = `
WITH task AS (
  SELECT t.id, t.turn, t.last_seq, CASE WHEN t.read_all THEN coalesce(t.read_upto, t.last_seq) END AS read_upto FROM tasks t
  WHERE t.id = (SELECT task_id FROM runs WHERE id = $1) AND t.status IN (${statusesBefore('running')}) FOR UPDATE),
asked AS MATERIALIZED (
  SELECT w.id, ${CAP('$3', '$4')} AS cap FROM task JOIN runs r ON r.task_id = task.id JOIN workspaces w ON w.id = r.workspace_id
  WHERE r.id = $1 AND ${hasStatus('queued')}),
place AS MATERIALIZED (SELECT FROM asked WHERE may_claim(asked.id, asked.cap)),
run AS (
  UPDATE runs r SET status = 'running', epoch = r.epoch + 1, claimed_at = clock_timestamp(),
    lease_until = clock_timestamp() + make_interval(secs => $2)
  FROM task, place WHERE r.id = $1 AND r.task_id = task.id AND ${hasStatus('queued')}
  RETURNING r.workspace_id, r.epoch, r.kind = 'turn' AND r.epoch = 1 AS fresh),
chosen AS (
  SELECT w.id, row_number() OVER (ORDER BY w.seq)::int AS n
  FROM task, run, (
    SELECT id, seq, mode, row_number() OVER (ORDER BY mode = 'interrupt' DESC, seq) AS place FROM messages
    WHERE task_id = (SELECT id FROM task) AND status = 'queued') w
  WHERE w.mode = 'steer' OR run.fresh AND (w.place = 1 OR w.seq <= task.read_upto)),
read AS (
  UPDATE messages m SET status = 'complete', turn = task.turn + run.fresh::int, read_seq = task.last_seq + chosen.n
  FROM task, run, chosen WHERE m.id = chosen.id
  RETURNING m.id)
UPDATE tasks t SET status = 'running', status_reason = NULL, updated_at = now(), started_at = coalesce(t.started_at, now()),
  last_seq = t.last_seq + (SELECT count(*) FROM read),
  turn = t.turn + run.fresh::int,
  read_all = t.read_all AND NOT run.fresh,
  turn_steps = CASE WHEN run.fresh THEN 0 ELSE t.turn_steps END,
  turn_tokens = CASE WHEN run.fresh THEN 0 ELSE t.turn_tokens END,
  turn_duration_ms = CASE WHEN run.fresh THEN 0 ELSE t.turn_duration_ms END
FROM run, task WHERE t.id = task.id
RETURNING t.id AS "taskId", run.workspace_id AS "workspaceId", run.epoch`;

// Skips a run that somebody has locked, for one stopped process with an open cancel would stop the leases of all the
// others; it counts as ours until it is known to be somebody else's. In the order of ids, as whoever cancels several.
const RENEW = `
WITH held AS (SELECT * FROM unnest($1::uuid[], $2::int[]) AS h(id, epoch)),
free AS (
  SELECT r.id FROM runs r JOIN held h ON h.id = r.id AND h.epoch = r.epoch
  WHERE ${hasStatus('running')} ORDER BY r.id FOR UPDATE OF r SKIP LOCKED),
renewed AS (
  UPDATE runs r SET lease_until = clock_timestamp() + make_interval(secs => $3) FROM free WHERE r.id = free.id RETURNING r.id)
SELECT r.id, r.epoch, EXISTS (SELECT 1 FROM renewed WHERE renewed.id = r.id) AS renewed
FROM runs r JOIN held h ON h.id = r.id AND h.epoch = r.epoch WHERE ${hasStatus('running')}`;

const HAND_BACK = `
WITH task AS (SELECT id FROM tasks WHERE id = $1 AND status IN (${statusesBefore('queued')}) FOR UPDATE),
run AS (
  UPDATE runs r SET status = 'queued', lease_until = NULL FROM task
  WHERE r.id = $2 AND r.task_id = task.id AND r.epoch = $3 AND ${hasStatus('running')} RETURNING r.claimed_at)
UPDATE tasks t SET status = 'queued', updated_at = now(), ${ADD_DURATION} FROM run WHERE t.id = $1 RETURNING t.id`;

// The reconciler takes it from there, and counts it: what broke may break again.
const LET_GO = `
UPDATE runs r SET lease_until = clock_timestamp() WHERE id = $1 AND epoch = $2 AND ${hasStatus('running')}`;

// The epoch moves at once, so that the silent worker is fenced before anyone else may claim.
const RECOVER = `
WITH task AS (
  SELECT t.id, r.claimed_at, r.lease_until FROM tasks t JOIN runs r ON r.task_id = t.id
  WHERE r.id = $1 AND t.status IN (${statusesBefore('queued')}) FOR UPDATE OF t SKIP LOCKED),
run AS (
  UPDATE runs r SET epoch = r.epoch + 1, lease_until = NULL, recovery_count = r.recovery_count + 1,
    status = CASE WHEN r.recovery_count < ${MAX_RECOVERIES} THEN 'queued' ELSE 'finished' END,
    finished_at = CASE WHEN r.recovery_count < ${MAX_RECOVERIES} THEN NULL ELSE now() END
  FROM task WHERE r.id = $1 AND r.task_id = task.id AND ${hasStatus('running')} AND r.lease_until < clock_timestamp()
  RETURNING r.task_id, r.status = 'finished' AS poison, task.claimed_at, task.lease_until),
${closeOpenCalls('SELECT task_id FROM run WHERE poison', 'The worker was lost while this ran; it may have run partly.')}
UPDATE tasks t SET updated_at = now(), ${addDuration('run.lease_until')},
  status = CASE WHEN run.poison THEN 'failed' ELSE 'queued' END,
  read_all = t.read_all OR run.poison,
  finished_at = CASE WHEN run.poison THEN now() END,
  status_reason = CASE WHEN run.poison
    THEN '{"code": "worker_lost", "message": "The work on this task was interrupted too often without progress.", "retryable": true}'::jsonb
    ELSE '{"code": "recovered", "message": "The worker was lost; another one takes over.", "retryable": true}'::jsonb END
FROM run WHERE t.id = run.task_id
RETURNING run.poison`;

const EXPIRED = `SELECT id FROM runs WHERE status = 'running' AND lease_until < clock_timestamp() ORDER BY lease_until LIMIT 50`;

// Fair over workspaces (docs/decisions/0014): first what was taken from a worker, then the workspaces with the fewest
// running, of these the one that was given a place the longest ago. Visits each workspace that waits once, by its first entry
// in the index runs_waiting, and reads no more of it than may run.
const QUEUED = `
WITH RECURSIVE waiting AS (
  (SELECT workspace_id AS id FROM runs WHERE status = 'queued' ORDER BY workspace_id LIMIT 1)
  UNION ALL
  SELECT (
    SELECT r.workspace_id FROM runs r WHERE r.status = 'queued' AND r.workspace_id > waiting.id ORDER BY r.workspace_id LIMIT 1)
  FROM waiting WHERE waiting.id IS NOT NULL)
SELECT next.id
FROM waiting JOIN workspaces w ON w.id = waiting.id LEFT JOIN workspace_claims c ON c.workspace_id = w.id
CROSS JOIN LATERAL (
  SELECT count(*)::int AS n, greatest(${CAP('$2', '$3')} - count(*), 0) AS room
  FROM runs WHERE workspace_id = w.id AND status = 'running') running
CROSS JOIN LATERAL (
  SELECT q.id, q.epoch, q.created_at, row_number() OVER ()::int AS n FROM (
    SELECT r.id, r.epoch, r.created_at FROM runs r WHERE r.workspace_id = w.id AND r.status = 'queued'
    ORDER BY (r.kind = 'turn' AND r.epoch = 0), r.created_at, r.id LIMIT least($1::int, running.room)) q) next
ORDER BY next.epoch = 0, running.n + next.n, c.claimed_at NULLS FIRST, next.created_at LIMIT $1`;

@Injectable()
export class RunClaims {
  private readonly leaseSeconds: number;
  /** Of a free workspace, and of a paid one. */
  private readonly caps: [number, number];

  constructor(
    private readonly database: Database,
    private readonly channel: PgChannel,
    env: Env,
  ) {
    const { free, paid } = plansOf(env.file);
    this.caps = [free.runningTasks, paid.runningTasks];
    this.leaseSeconds = env.variables.LEASE_SECONDS;
  }

  /** Takes a queued run for this process; null when it is not to be had, or its workspace is at its cap. One statement. */
  async claim(runId: string): Promise<ClaimedRun | null> {
    const values = [runId, this.leaseSeconds, ...this.caps];
    const rows = await this.query<Omit<ClaimedRun, 'runId'>>('claim', CLAIM, values, this.database.claims);
    const [row] = rows;
    return row === undefined ? null : { runId, ...row };
  }

  /** Renews the leases of all held runs in one statement; returns those that are still held, by id. */
  async renew(runs: ClaimedRun[]): Promise<Map<string, { epoch: number; renewed: boolean }>> {
    const values = [runs.map((run) => run.runId), runs.map((run) => run.epoch), this.leaseSeconds];
    const { leases } = this.database;
    const rows = await this.query<{ id: string; epoch: number; renewed: boolean }>('renew', RENEW, values, leases);
    return new Map(rows.map(({ id, ...held }) => [id, held]));
  }

  /**
   * Puts it back into the queue and tells another worker at once, with Redis too by a notice: a job may be brought to any
   * worker, the one that stops included. The channel is closed after everything that is handed back.
   */
  async handBack(run: ClaimedRun): Promise<void> {
    await this.query('hand-back', HAND_BACK, [run.taskId, run.runId, run.epoch]);
    this.channel.send({ work: run.runId });
  }

  /** Ends the lease at once, after an error that will pass. */
  async letGo(run: ClaimedRun): Promise<void> {
    await this.query('let-go', LET_GO, [run.runId, run.epoch]);
  }

  /** Puts runs whose lease has run out back into the queue; the sixth time in a row they fail. Returns their ids. */
  async recoverExpired(): Promise<string[]> {
    const recovered: string[] = [];
    for (const { id } of await this.query<{ id: string }>('expired', EXPIRED, [])) {
      if ((await this.query('recover', RECOVER, [id])).length > 0) recovered.push(id);
    }
    return recovered;
  }

  /** The queued runs that are to start next, of workspaces below their cap: at most `limit`, in fair order. */
  async queued(limit: number): Promise<string[]> {
    return (await this.query<{ id: string }>('queued', QUEUED, [limit, ...this.caps])).map((row) => row.id);
  }

  /** With a limit of its own: a beat or a look that hangs must not outlive the lease. */
  private async query<T extends object>(
    name: string,
    text: string,
    values: unknown[],
    pool = this.database.polling,
  ): Promise<T[]> {
    const query = { name, text, values, query_timeout: (this.leaseSeconds * 1000) / 3 };
    return (await pool.query<T>(query)).rows;
  }
}
