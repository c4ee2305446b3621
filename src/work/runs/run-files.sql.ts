// How the service itself adds files to a task, besides what a call publishes: as run-recorder.sql.ts.
import { bigint, type Fragment, jsonb, type None, raw, sql } from '../../platform/database/sql.js';
import { room } from '../../resources/files/storage-quota.sql.js';
import type { StoredFile } from '../../resources/files/file.entity.js';
import { fence } from './run-recorder.sql.js';

export type Stored = Pick<StoredFile, 'id' | 'name' | 'mediaType' | 'size' | 'sha256'>;
const FILES = jsonb<Stored[]>()('files');

/** A fence that sets something in the run, and holds when the files fit too. */
export const fenceWithRoom = (set: Fragment<None>) => sql`
${fence(set, 'held')},
${room(raw('(SELECT workspace_id FROM held)'), bigint('publishedBytes'))},
run AS (SELECT held.* FROM held, room)`;

/** The rows of the files. */
export const PUBLISHED = sql`
published AS (
  INSERT INTO files (id, workspace_id, task_id, origin, name, media_type, size, sha256, turn, created_by)
  SELECT f.id, run.workspace_id, task.id, 'task', f.name, f."mediaType", f.size, f.sha256, task.turn, task.created_by
  FROM task, run, jsonb_to_recordset(${FILES}) AS f(id uuid, name text, "mediaType" text, size bigint, sha256 text)
  RETURNING id)`;
