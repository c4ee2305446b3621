// Who holds a run: claim, lease, hand back, recover. Lock order everywhere: the task's row, then the run's.
import { Injectable } from '@nestjs/common';
import { Env } from '../config/env.js';
import { Database } from '../database/database.js';
import { ADD_DURATION, closeOpenCalls } from '../tasks/task-sql.js';
import type { ClaimedRun } from './claimed-run.js';

/** Recoveries without a finished step between them before a run counts as poison (reference §5). */
const MAX_RECOVERIES = 5;

// The task's row is the mutex. `run` re-checks its condition on the newest version of the row, so of two claims one wins.
// A first claim of a turn reads the waiting message (after a cancel or a failure: all of them), an interrupting one before
// those that have waited longer. Every claim reads what is to steer the turn.
const CLAIM = `
WITH task AS (
  SELECT t.id, t.turn, t.last_seq, t.read_all FROM tasks t
  WHERE t.id = (SELECT task_id FROM runs WHERE id = $1) FOR UPDATE),
run AS (
  UPDATE runs r SET status = 'running', epoch = r.epoch + 1, claimed_at = clock_timestamp(),
    lease_until = clock_timestamp() + make_interval(secs => $2)
  FROM task WHERE r.id = $1 AND r.task_id = task.id AND r.status = 'queued'
  RETURNING r.workspace_id, r.epoch, r.kind = 'turn' AND r.epoch = 1 AS fresh),
chosen AS (
  SELECT w.id, row_number() OVER (ORDER BY w.seq)::int AS n
  FROM task, run, (
    SELECT id, seq, mode, row_number() OVER (ORDER BY mode = 'interrupt' DESC, seq) AS place FROM messages
    WHERE task_id = (SELECT id FROM task) AND status = 'queued') w
  WHERE w.mode = 'steer' OR run.fresh AND (task.read_all OR w.place = 1)),
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

const RENEW = `
UPDATE runs r SET lease_until = clock_timestamp() + make_interval(secs => $3)
FROM unnest($1::uuid[], $2::int[]) AS held(id, epoch)
WHERE r.id = held.id AND r.epoch = held.epoch AND r.status = 'running'
RETURNING r.id, r.epoch`;

const HAND_BACK = `
WITH task AS (SELECT id FROM tasks WHERE id = $1 FOR UPDATE),
run AS (
  UPDATE runs r SET status = 'queued', lease_until = NULL FROM task
  WHERE r.id = $2 AND r.task_id = task.id AND r.epoch = $3 AND r.status = 'running' RETURNING r.claimed_at)
UPDATE tasks t SET status = 'queued', updated_at = now(), ${ADD_DURATION} FROM run WHERE t.id = $1 RETURNING t.id`;

// The epoch moves at once, so that the silent worker is fenced before anyone else may claim.
const RECOVER = `
WITH task AS (
  SELECT t.id FROM tasks t JOIN runs r ON r.task_id = t.id
  WHERE r.id = $1 FOR UPDATE OF t SKIP LOCKED),
run AS (
  UPDATE runs r SET epoch = r.epoch + 1, lease_until = NULL, recovery_count = r.recovery_count + 1,
    status = CASE WHEN r.recovery_count < ${MAX_RECOVERIES} THEN 'queued' ELSE 'finished' END,
    finished_at = CASE WHEN r.recovery_count < ${MAX_RECOVERIES} THEN NULL ELSE now() END
  FROM task WHERE r.id = $1 AND r.task_id = task.id AND r.status = 'running' AND r.lease_until < clock_timestamp()
  RETURNING r.task_id, r.status = 'finished' AS poison),
${closeOpenCalls('SELECT task_id FROM run WHERE poison', 'The worker was lost while this ran; it may have run partly.')}
UPDATE tasks t SET updated_at = now(),
  status = CASE WHEN run.poison THEN 'failed' ELSE 'queued' END,
  read_all = t.read_all OR run.poison,
  finished_at = CASE WHEN run.poison THEN now() END,
  status_reason = CASE WHEN run.poison
    THEN '{"code": "worker_lost", "message": "The work on this task was interrupted too often without progress.", "retryable": true}'::jsonb
    ELSE '{"code": "recovered", "message": "The worker was lost; another one takes over.", "retryable": true}'::jsonb END
FROM run WHERE t.id = run.task_id
RETURNING run.poison`;

const EXPIRED = `SELECT id FROM runs WHERE status = 'running' AND lease_until < clock_timestamp() ORDER BY lease_until LIMIT 50`;
const QUEUED = `SELECT id FROM runs WHERE status = 'queued' ORDER BY created_at LIMIT $1`;

@Injectable()
export class RunClaims {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    env: Env,
  ) {
    this.leaseSeconds = env.variables.LEASE_SECONDS;
  }

  /** Takes a queued run for this process; null when it is not to be had. One statement. */
  async claim(runId: string): Promise<ClaimedRun | null> {
    const { rows } = await this.database.work.query<Omit<ClaimedRun, 'runId'>>({
      name: 'claim',
      text: CLAIM,
      values: [runId, this.leaseSeconds],
    });
    const [row] = rows;
    return row === undefined ? null : { runId, ...row };
  }

  /** Renews the leases of all held runs in one statement; returns those that are still held: id → epoch. */
  async renew(runs: ClaimedRun[]): Promise<Map<string, number>> {
    const values = [runs.map((run) => run.runId), runs.map((run) => run.epoch), this.leaseSeconds];
    const { rows } = await this.database.work.query<{ id: string; epoch: number }>({
      name: 'renew',
      text: RENEW,
      values,
    });
    return new Map(rows.map(({ id, epoch }) => [id, epoch]));
  }

  async handBack(run: ClaimedRun): Promise<void> {
    await this.database.work.query(HAND_BACK, [run.taskId, run.runId, run.epoch]);
  }

  /** Puts runs whose lease has run out back into the queue; the sixth time in a row they fail. Returns how many moved. */
  async recoverExpired(): Promise<number> {
    const expired = await this.database.work.query<{ id: string }>(EXPIRED);
    let moved = 0;
    for (const { id } of expired.rows) moved += (await this.database.work.query(RECOVER, [id])).rowCount ?? 0;
    return moved;
  }

  /** The oldest queued runs. */
  async queued(limit: number): Promise<string[]> {
    const { rows } = await this.database.work.query<{ id: string }>({ name: 'queued', text: QUEUED, values: [limit] });
    return rows.map((row) => row.id);
  }
}
