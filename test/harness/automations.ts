// Automations as rows, for tests of how they fire: the rules of writing them are tested through the API.
import { newId } from '../../src/platform/database/ids.js';
import type { Member } from './client.js';
import type { TestDatabase } from './database.js';
import { until } from './until.js';

export interface PlannedAutomation {
  content?: string;
  kind?: 'recurring' | 'one_time' | 'webhook';
  cron?: string | null;
  timezone?: string | null;
  triggerEvent?: string | null;
  filter?: string | null;
  overlap?: 'skip' | 'queue' | 'allow';
  projectId?: string | null;
  connectionId?: string | null;
  model?: string | null;
  /** Seconds from now until it is due; negative for the past; null: never by itself. */
  dueIn?: number | null;
}

export interface RunRow {
  id: string;
  triggerType: string;
  scheduledAt: Date | null;
  status: string;
  reason: { code: string; message: string } | null;
  taskId: string | null;
  deliveryId: string | null;
}

export interface AutomationRow {
  status: string;
  pausedReason: { code: string; message: string } | null;
  nextRunAt: Date | null;
  consecutiveFailures: number;
}

/** An active automation of the member. Without a kind it fires once. */
export async function plan(db: TestDatabase, owner: Member, given: PlannedAutomation = {}): Promise<string> {
  const { kind = given.cron != null ? 'recurring' : given.triggerEvent != null ? 'webhook' : 'one_time' } = given;
  const { dueIn = kind === 'webhook' ? null : -0.001, overlap = kind === 'webhook' ? 'allow' : 'skip' } = given;
  const id = newId();
  await db.query(
    `INSERT INTO automations (id, workspace_id, owner_id, project_id, connection_id, name, kind, status, content, model, cron, timezone,
       run_at, trigger_event, filter, overlap, next_run_at)
     SELECT $1, $2, $3, $4, $5, 'Nightly', $6, 'active', $7, $8, $9, $10, CASE $6 WHEN 'one_time' THEN due.at END, $11, $12, $13, due.at
     FROM (SELECT date_trunc('milliseconds', now() + make_interval(secs => $14)) AS at) due`,
    [
      id,
      owner.workspace.id,
      owner.user.id,
      given.projectId ?? null,
      given.connectionId ?? null,
      kind,
      given.content ?? 'Say what you see.',
      given.model ?? null,
      given.cron ?? null,
      given.cron == null ? null : (given.timezone ?? 'UTC'),
      given.triggerEvent ?? null,
      given.filter ?? null,
      overlap,
      dueIn,
    ],
  );
  if (dueIn !== null) await wake(db);
  return id;
}

/** Tells the workers, as a write of the API does. */
async function wake(db: TestDatabase): Promise<void> {
  await db.query(`SELECT pg_notify('millwright', '{"work":{"kind":"occurrences","id":"planned"}}')`);
}

/** Makes it due, as the clock would: now, or at a time. */
export async function makeDue(db: TestDatabase, id: string, at = new Date()): Promise<void> {
  await db.query('UPDATE automations SET next_run_at = $2 WHERE id = $1', [id, at]);
  await wake(db);
}

/** Oldest first. */
export function runsOf(db: TestDatabase, automationId: string): Promise<RunRow[]> {
  return db.query<RunRow>(
    `SELECT id, trigger_type AS "triggerType", scheduled_at AS "scheduledAt", status, reason, task_id AS "taskId", delivery_id AS "deliveryId"
     FROM automation_runs WHERE automation_id = $1 ORDER BY created_at, id`,
    [automationId],
  );
}

/** Waits until the automation has so many runs. */
export function runs(db: TestDatabase, automationId: string, count = 1): Promise<RunRow[]> {
  return until(`${count} runs of the automation`, async () => {
    const found = await runsOf(db, automationId);
    return found.length >= count && found;
  });
}

export async function readAutomation(db: TestDatabase, id: string): Promise<AutomationRow> {
  const [row] = await db.query<AutomationRow>(
    `SELECT status, paused_reason AS "pausedReason", next_run_at AS "nextRunAt", consecutive_failures AS "consecutiveFailures"
     FROM automations WHERE id = $1`,
    [id],
  );
  if (row === undefined) throw new Error('There is no such automation.');
  return row;
}
