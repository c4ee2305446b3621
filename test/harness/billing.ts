// What a workspace has used and may use, as rows: how it is metered is tested where models are called.
import type { UsageWindow } from '../../src/platform/config/plans.js';
import { newId } from '../../src/platform/database/ids.js';
import type { TestApp } from './app.js';
import type { Member } from './client.js';

type Database = Pick<TestApp, 'db'>;
type Workspace = Pick<Member, 'workspace'>;

/** Gives the workspace windows of its own, and a top-up of so many micro-dollars. */
export async function allow(
  { db }: Database,
  { workspace }: Workspace,
  windows: UsageWindow[] | null,
  topUp = 0,
): Promise<void> {
  const json = windows === null ? null : JSON.stringify(windows);
  await db.query('UPDATE workspaces SET usage_windows = $2, top_up_micros = $3 WHERE id = $1', [workspace.id, json, topUp]); // prettier-ignore
}

/** Sets what the workspace has used today, in UTC. */
export async function useToday(
  { db }: Database,
  { workspace }: Workspace,
  { tasks = 0, tokens = 0, costMicros = 0 }: { tasks?: number; tokens?: number; costMicros?: number },
): Promise<void> {
  await db.query(
    `INSERT INTO usage_days (workspace_id, day, tasks, tokens, cost_micros) VALUES ($1, (now() AT TIME ZONE 'UTC')::date, $2, $3, $4)
     ON CONFLICT (workspace_id, day, lane) DO UPDATE SET tasks = $2, tokens = $3, cost_micros = $4`,
    [workspace.id, tasks, tokens, costMicros],
  );
}

export interface Step {
  at?: Date;
  projectId?: string | null;
  automationId?: string | null;
  taskId?: string;
  model?: string;
  startsTurn?: boolean;
  input?: number;
  output?: number;
  cached?: number;
  reasoning?: number;
  costMicros?: number | null;
}

/** Puts a step of the member's into the ledger. */
export async function recordStep({ db }: Database, { workspace, user }: Member, step: Step = {}): Promise<void> {
  const { at = new Date(Date.now() - 60_000), projectId = null, automationId = null, taskId = newId() } = step;
  const { model = 'runbook', startsTurn = true, input = 10, output = 5, cached = 0, reasoning = 0 } = step;
  await db.query(
    `INSERT INTO usage_ledger (workspace_id, at, message_id, task_id, project_id, automation_id, created_by, model, starts_turn, input_tokens,
       output_tokens, cached_input_tokens, reasoning_tokens, cost_micros)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      workspace.id,
      at,
      newId(),
      taskId,
      projectId,
      automationId,
      user.id,
      model,
      startsTurn,
      input,
      output,
      cached,
      reasoning,
      step.costMicros ?? null,
    ],
  );
}
