// How the service itself adds files to a task, besides what a call publishes: as run-recorder.sql.ts.
import { jsonb, sql } from '../../platform/database/sql.js';
import type { Published } from './run-recorder.sql.js';

const FILES = jsonb<Published[]>()('files');

/** The rows of the files. */
export const PUBLISHED = sql`
published AS (
  INSERT INTO files (id, workspace_id, task_id, origin, name, media_type, size, sha256, turn, created_by)
  SELECT f.id, run.workspace_id, task.id, 'task', f.name, f."mediaType", f.size, f.sha256, task.turn, task.created_by
  FROM task, run, jsonb_to_recordset(${FILES}) AS f(id uuid, name text, "mediaType" text, size bigint, sha256 text)
  RETURNING id)`;
