// What a proof of a task's checks is made of, and how it is kept: as run-recorder.sql.ts.
import { jsonb, sql, uuid } from '../../platform/database/sql.js';
import type { CheckFact } from '../../resources/proofs/proof-facts.js';
import type { ProofEnvelope } from '../../resources/proofs/envelope.js';
import { PUBLISHED } from './run-files.sql.js';
import { fenceWithRoom, HELD, HOLD, TASK_ID, type Written } from './run-recorder.sql.js';

/** What the database knows of the checks of the turn under way. */
export interface FactsRow {
  turn: number;
  workspace: { id: string; slug: string };
  repository: { url: string; commit: string } | null;
  environment: { slug: string; version: number } | null;
  agent: { slug: string; version: number } | null;
  checks: CheckFact[];
}

export const FACTS = sql`
SELECT t.turn, json_build_object('id', w.id, 'slug', w.slug) AS workspace,
  CASE WHEN t.repository IS NOT NULL THEN json_build_object('url', t.repository ->> 'url', 'commit', t.repository ->> 'commit') END AS repository,
  (SELECT json_build_object('slug', e.slug, 'version', t.environment_version) FROM environments e WHERE e.id = t.environment_id) AS environment,
  (SELECT json_build_object('slug', g.slug, 'version', t.agent_version) FROM agents g WHERE g.id = t.agent_id) AS agent,
  (SELECT json_agg(json_build_object('name', c.name, 'command', c.command, 'required', c.required, 'phase', c.phase, 'round', c.round,
      'status', c.status, 'exitCode', c.exit_code, 'durationMs', c.duration_ms, 'outputSha256', c.output_sha256,
      'protectedChanged', c.protected_changed, 'protect', c.protect, 'network', c.network)
      ORDER BY c.created_at, c.id)
    FROM task_checks c WHERE c.task_id = t.id AND (c.turn = t.turn AND c.phase = 'after' OR c.phase = 'before' AND EXISTS (
      SELECT 1 FROM task_checks a WHERE a.task_id = t.id AND a.turn = t.turn AND a.phase = 'after' AND a.name = c.name AND a.command = c.command))) AS checks
FROM tasks t JOIN workspaces w ON w.id = t.workspace_id WHERE t.id = ${uuid('taskId')}`.rows<FactsRow>();

const KEPT = sql`
kept AS (
  INSERT INTO task_proofs (task_id, turn, envelope) SELECT task.id, task.turn, ${jsonb<ProofEnvelope>()('envelope')} FROM task, run
  ON CONFLICT (task_id, turn) DO UPDATE SET envelope = excluded.envelope, created_at = now())`;

/** The proof alone. */
export const PROVEN = sql`
WITH ${HOLD}, ${KEPT}
UPDATE tasks t SET updated_at = now() FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

/** With it as a file of the task. No row, and nothing is written, also when that does not fit. */
export const PROVEN_FILE = sql`
WITH ${fenceWithRoom(HELD)},
${KEPT},
${PUBLISHED},
told AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, task.last_event + 1, 'file.published', published.id FROM task, published)
UPDATE tasks t SET updated_at = now(), last_event = t.last_event + (SELECT count(*)::int FROM published)
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();
