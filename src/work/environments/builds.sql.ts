// The rows of builds, as a worker that makes or uses one writes them (docs/decisions/0098). Lock order: task, run, build.
import { bigint, int, jsonb, raw, sql, text, texts, uuid, uuidOrNull } from '../../platform/database/sql.js';
import type { BuildState } from '../../resources/environments/environment.entity.js';
import type { Definition } from '../../resources/environments/definition.js';
import { above, type StorageUsed } from '../../resources/files/storage-quota.sql.js';
import { ADD_DURATION } from '../../resources/tasks/task-end.sql.js';
import type { StatusReason } from '../../resources/tasks/task-status.js';
import { hasStatus } from '../runs/run-status.js';
import { EPOCH, HOLD, RUN_ID, TASK_ID } from '../runs/run-recorder.sql.js';

const BUILD_ID = uuid('buildId');
const ENVIRONMENT_ID = uuid('environmentId');
const VERSION = int('version');
const KEY = text('key');
const DRIVER = text('driver');

/** A build, as far as a task that begins has to know it. */
export interface FoundBuild {
  id: string;
  version: number;
  state: BuildState;
  manifest: string | null;
  bytes: number;
  error: string | null;
  finishedAt: string | null;
}

const FOUND =
  raw(`json_build_object('id', b.id, 'version', b.version, 'state', b.state, 'manifest', b.manifest, 'bytes', b.bytes,
  'error', b.error, 'finishedAt', b.finished_at)`);
const OF_KEY = sql`b.environment_id = ${ENVIRONMENT_ID} AND b.version = ${VERSION} AND b.key = ${KEY} AND b.driver = ${DRIVER}`;

/**
 * The builds that a run may begin from: what its task waits for or has begun from (`own`), the one of this key that is made or being made
 * (`current`), one that failed while the run waited in the queue (`failed`), and the last one of any version that did not fail (`good`). No row: the run is not ours.
 */
export const BUILDS_OF = sql`
SELECT (SELECT ${FOUND} FROM environment_builds b WHERE b.id = t.environment_build_id AND b.driver = ${DRIVER}) AS own,
  (SELECT ${FOUND} FROM environment_builds b WHERE ${OF_KEY} AND b.state IN ('building', 'ready')) AS current,
  (SELECT ${FOUND} FROM environment_builds b WHERE ${OF_KEY} AND b.state = 'failed' AND b.finished_at > r.created_at
   ORDER BY b.finished_at DESC LIMIT 1) AS failed,
  (SELECT ${FOUND} FROM environment_builds b
   WHERE b.environment_id = ${ENVIRONMENT_ID} AND b.driver = ${DRIVER} AND b.state = 'ready'
   ORDER BY b.finished_at DESC LIMIT 1) AS good
FROM tasks t JOIN runs r ON r.task_id = t.id
WHERE t.id = ${TASK_ID} AND r.id = ${RUN_ID} AND r.epoch = ${EPOCH} AND ${hasStatus('running')}`.rows<
  Record<'own' | 'current' | 'failed' | 'good', FoundBuild | null>
>();

/** No row: another run has begun one of this key. */
export const BEGIN = sql`
INSERT INTO environment_builds (id, workspace_id, environment_id, version, key, driver, state)
VALUES (${BUILD_ID}, ${uuid('workspaceId')}, ${ENVIRONMENT_ID}, ${VERSION}, ${KEY}, ${DRIVER}, 'building')
ON CONFLICT (environment_id, version, key, driver) WHERE state IN ('building', 'ready') DO NOTHING
RETURNING id`.rows<{ id: string }>();

/** From which build the folders of a task begin; null: from none. */
export const BEGINS_FROM = sql`
WITH ${HOLD}
UPDATE tasks t SET environment_build_id = ${uuidOrNull('buildId')} FROM task, run WHERE t.id = task.id RETURNING t.id`.rows<{
  id: string;
}>();

/** When a task that waits for a build looks for itself, whatever became of the word of its end. */
const LOOKS_AFTER = raw(`interval '20 seconds'`);

/**
 * Puts a run aside until a build has ended. No row: it has ended, or the run is not ours. The end of a build waits for this lock, and then wakes the
 * tasks that it finds. Nothing of the turn is closed: what was blocked before is as untouched as it was.
 */
export const WAIT_FOR = sql`
WITH task AS (SELECT id FROM tasks WHERE id = ${TASK_ID} AND status = 'running' FOR UPDATE),
build AS MATERIALIZED (
  SELECT b.id FROM environment_builds b, task WHERE b.id = ${BUILD_ID} AND b.state = 'building' FOR SHARE OF b),
run AS (
  UPDATE runs r SET status = 'paused', lease_until = NULL FROM task, build
  WHERE r.id = ${RUN_ID} AND r.task_id = task.id AND r.epoch = ${EPOCH} AND ${hasStatus('running')} RETURNING r.claimed_at)
UPDATE tasks t SET status = 'queued', paused = true, environment_build_id = build.id, updated_at = now(), ${ADD_DURATION},
  resumes_at = CASE WHEN t.paused THEN t.resumes_at ELSE now() + ${LOOKS_AFTER} END,
  status_reason = CASE WHEN t.paused THEN t.status_reason ELSE ${jsonb<StatusReason>()('reason')} END,
  blocked = CASE WHEN (t.blocked ->> 'epoch')::int = ${EPOCH} - 1 AND t.blocked ->> 'runId' = ${RUN_ID}::text
    THEN jsonb_set(t.blocked, '{epoch}', to_jsonb(${EPOCH})) ELSE t.blocked END
FROM run, build WHERE t.id = ${TASK_ID} RETURNING t.id`.rows<{ id: string }>();

/** A build that is to be made. */
export interface BuildToMake {
  id: string;
  workspaceId: string;
  /** The slug of its workspace. */
  workspace: string;
  environmentId: string;
  version: number;
  slug: string;
  key: string;
  definition: Definition;
  createdAt: Date;
}

/** No row: it has ended, or its environment has been deleted. */
export const TO_MAKE = sql`
SELECT b.id, b.workspace_id AS "workspaceId", w.slug AS workspace, b.environment_id AS "environmentId", b.version, e.slug, b.key, v.definition,
  b.created_at AS "createdAt"
FROM environment_builds b JOIN workspaces w ON w.id = b.workspace_id JOIN environments e ON e.id = b.environment_id
  JOIN environment_versions v ON v.environment_id = b.environment_id AND v.version = b.version
WHERE b.id = ${BUILD_ID} AND b.state = 'building'`.rows<BuildToMake>();

/** The job of this attempt: one that was replaced writes nothing any more. */
const OURS = sql`EXISTS (
  SELECT FROM jobs j WHERE j.id = ${uuid('jobId')} AND j.status = 'running' AND j.attempts = ${int('attempt')})`;
const MINE = sql`b.id = ${BUILD_ID} AND b.state = 'building' AND ${OURS}`;
const LEASE = sql`now() + make_interval(secs => ${int('leaseSeconds')})`;
/** Another build that has this key, or is about to. */
const TAKEN_BY = (states: string) => sql`EXISTS (
  SELECT FROM environment_builds o WHERE o.environment_id = b.environment_id AND o.version = b.version AND o.key = ${KEY}
    AND o.driver = ${DRIVER} AND o.id <> b.id AND o.state IN (${raw(states)}))`;

/** Whose it is. One that was asked for has no key before its end where another build has it. No row: it is not ours. */
export const TAKE = sql`
UPDATE environment_builds b SET machine_id = ${uuid('machineId')}, lease_until = ${LEASE}, driver = ${DRIVER},
  key = CASE WHEN b.key = ${KEY} OR ${TAKEN_BY(`'building', 'ready'`)} THEN b.key ELSE ${KEY} END
WHERE ${MINE} RETURNING b.id`.rows<{ id: string }>();

/** What its commands have written lately. No row: it is not ours. */
export const TICK = sql`
UPDATE environment_builds b SET log = ${text('log')}, lease_until = ${LEASE} WHERE ${MINE} RETURNING b.id`.rows<{
  id: string;
}>();

/** What one that is ready replaces has its key no more: tasks that began from it keep it. */
export const REPLACE = sql`
UPDATE environment_builds b SET key = 'replaced ' || b.id
WHERE ${OF_KEY} AND b.state = 'ready' AND b.id <> ${BUILD_ID}`.rows();

const OBJECTS = texts('objects');

/** What the workspace stores with these objects, when that is above its limit. */
export const ABOVE_WITH = sql`
SELECT ${above(
  raw('w.id'),
  sql`(SELECT coalesce(sum(o.bytes), 0) FROM snapshot_objects o
    WHERE o.workspace_id = w.id AND o.sha256 = ANY(${OBJECTS}) AND o.unnamed_at IS NOT NULL)`,
)} AS above
FROM workspaces w WHERE w.id = ${uuid('workspaceId')}`.rows<{ above: StorageUsed | null }>();

/** Ends one, with the objects that it needs: they are stored. No row: it is not ours. */
export const READY = sql`
WITH build AS (
  UPDATE environment_builds b SET state = 'ready', manifest = ${text('manifest')}, files = ${int('files')}, bytes = ${bigint('bytes')},
    log = ${text('log')}, lease_until = NULL, finished_at = now(),
    key = CASE WHEN b.key = ${KEY} OR ${TAKEN_BY(`'building'`)} THEN b.key ELSE ${KEY} END
  WHERE ${MINE} RETURNING b.id, b.workspace_id)
INSERT INTO environment_build_uses (build_id, workspace_id, object)
SELECT build.id, build.workspace_id, object FROM build, unnest(${OBJECTS}) object RETURNING build_id AS id`.rows<{
  id: string;
}>();

export const FAILED = sql`
UPDATE environment_builds b SET state = 'failed', error = ${text('error')}, log = ${text('log')}, lease_until = NULL, finished_at = now()
WHERE ${MINE} RETURNING b.id`.rows<{ id: string }>();

/** Fails those whose job is gone: it was begun too often, and none of its workers has ended it. */
export const ABANDONED = sql`
UPDATE environment_builds b SET state = 'failed', error = ${text('error')}, lease_until = NULL, finished_at = now()
WHERE b.state = 'building' AND b.created_at < now() - interval '10 seconds' AND NOT EXISTS (
  SELECT FROM jobs j WHERE j.queue = ${text('queue')} AND j.key = b.id::text AND j.status IN ('queued', 'running'))
RETURNING b.id`.rows<{ id: string }>();

/**
 * Forgets builds that no task can begin from any more: those that are ready stay of the two newest versions that have one, the newest three of each,
 * and so do those of tasks that have not ended; of those that failed the last twenty of each environment.
 */
export const FORGET = sql`
WITH ranked AS (
  SELECT b.id, b.state, dense_rank() OVER (PARTITION BY b.environment_id, b.driver, b.state ORDER BY b.version DESC) AS age,
    row_number() OVER (PARTITION BY b.environment_id, b.driver, b.version, b.state ORDER BY b.finished_at DESC) AS place,
    row_number() OVER (PARTITION BY b.environment_id, b.state ORDER BY b.finished_at DESC) AS n
  FROM environment_builds b WHERE b.state <> 'building')
DELETE FROM environment_builds b USING ranked WHERE b.id = ranked.id
  AND CASE ranked.state WHEN 'ready' THEN ranked.age > 2 OR ranked.place > 3 ELSE ranked.n > 20 END
  AND NOT EXISTS (
    SELECT FROM tasks t WHERE t.environment_build_id = b.id AND t.status NOT IN ('completed', 'failed', 'cancelled'))
RETURNING b.id`.rows<{ id: string }>();

/** A command that is to be tried in a build. */
export interface Trial {
  id: string;
  workspaceId: string;
  /** Of the environment. */
  slug: string;
  command: string;
  definition: Definition;
  /** Of the build. */
  createdAt: Date;
  build: { id: string; manifest: string; bytes: number };
}

/** No row: who asked has gone away, or the build is gone. */
export const TO_TRY = sql`
SELECT t.id, t.workspace_id AS "workspaceId", e.slug, t.command, v.definition, b.created_at AS "createdAt",
  json_build_object('id', b.id, 'manifest', b.manifest, 'bytes', b.bytes) AS build
FROM environment_trials t JOIN environment_builds b ON b.id = t.build_id AND b.state = 'ready'
  JOIN environment_versions v ON v.environment_id = b.environment_id AND v.version = b.version
  JOIN environments e ON e.id = b.environment_id
WHERE t.id = ${uuid('trialId')} AND t.result IS NULL`.rows<Trial>();
