// How the title that a model has made is recorded: one round trip, once in a task.
import { sql, textOrNull } from '../../platform/database/sql.js';
import { EXHAUSTED_NOW, METER_BESIDE } from '../../resources/billing/meter.sql.js';
import { HOLD, TASK_ID, type Written } from './run-recorder.sql.js';
import { SPENT_BESIDE } from './run-usage.sql.js';

/** A title that a person gives meanwhile stays. Null: the answer was no use, and has cost what it cost. */
export const TITLE = sql`
WITH ${HOLD},
${METER_BESIDE}
UPDATE tasks t SET title = CASE WHEN t.untitled THEN coalesce(${textOrNull('title')}, t.title) ELSE t.title END, untitled = false,
  updated_at = now(), ${SPENT_BESIDE}
FROM run, task WHERE t.id = ${TASK_ID} RETURNING NULL AS steer, ${EXHAUSTED_NOW} AS exhausted`.rows<Written>();
