// What a proof of a task's checks is made of, and how it is kept: as run-recorder.sql.ts.
import type { StoredFile } from '../../resources/files/file.entity.js';
import { bigint, jsonb, raw, sql, uuid } from '../../platform/database/sql.js';
import { room } from '../../resources/files/storage-quota.sql.js';
import type { CheckFact } from '../../resources/proofs/proof-facts.js';
import type { ProofEnvelope } from '../../resources/proofs/envelope.js';
import { HOLD, fence, TASK_ID, type Written } from './run-recorder.sql.js';

/** What the database knows of the checks of the turn under way. */
export interface FactsRow {
  turn: number;
  workspace: { id: string; slug: string };
  repository: { url: string; commit: string } | null;
  environment: { slug: string; version: number } | null;
  patchSha256: string | null;
  checks: CheckFact[];
}

/** Nothing changes in the run. */
const HELD = raw('epoch = r.epoch');

export const FACTS = sql`
SELECT t.turn, json_build_object('id', w.id, 'slug', w.slug) AS workspace,
  CASE WHEN t.repository IS NOT NULL THEN json_build_object('url', t.repository ->> 'url', 'commit', t.repository ->> 'commit') END AS repository,
  (SELECT json_build_object('slug', e.slug, 'version', t.environment_version) FROM environments e WHERE e.id = t.environment_id) AS environment,
  (SELECT f.sha256 FROM files f WHERE f.task_id = t.id AND f.turn = t.turn AND f.origin = 'task' AND f.name = 'changes.patch'
    ORDER BY f.created_at DESC, f.id DESC LIMIT 1) AS "patchSha256",
  (SELECT json_agg(json_build_object('name', c.name, 'command', c.command, 'required', c.required, 'phase', c.phase, 'round', c.round,
      'status', c.status, 'exitCode', c.exit_code, 'durationMs', c.duration_ms, 'outputSha256', c.output_sha256,
      'protectedChanged', c.protected_changed, 'protect', c.protect, 'network', c.network)
      ORDER BY c.created_at, c.id)
    FROM task_checks c WHERE c.task_id = t.id AND c.turn = t.turn) AS checks
FROM tasks t JOIN workspaces w ON w.id = t.workspace_id WHERE t.id = ${uuid('taskId')}`.rows<FactsRow>();

type Kept = Pick<StoredFile, 'id' | 'name' | 'mediaType' | 'size' | 'sha256'>;
const FILES = jsonb<Kept[]>()('files');
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
WITH ${fence(HELD, 'held')},
${room(raw('(SELECT workspace_id FROM held)'), bigint('publishedBytes'))},
run AS (SELECT held.* FROM held, room),
${KEPT},
published AS (
  INSERT INTO files (id, workspace_id, task_id, origin, name, media_type, size, sha256, turn, created_by)
  SELECT f.id, run.workspace_id, task.id, 'task', f.name, f."mediaType", f.size, f.sha256, task.turn, task.created_by
  FROM task, run, jsonb_to_recordset(${FILES}) AS f(id uuid, name text, "mediaType" text, size bigint, sha256 text)
  RETURNING id),
told AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, task.last_event + 1, 'file.published', published.id FROM task, published)
UPDATE tasks t SET updated_at = now(), last_event = t.last_event + (SELECT count(*)::int FROM published)
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();
