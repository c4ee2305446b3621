// How calls of the model are recorded that leave no message (reference §30): one round trip, when no step has shown what they used.
import { sql } from '../../platform/database/sql.js';
import { EXHAUSTED_NOW, METER_BESIDE } from '../../resources/billing/meter.sql.js';
import { HOLD, TASK_ID, type Written } from './run-recorder.sql.js';
import { SPENT_BESIDE } from './run-usage.sql.js';

export const BESIDE = sql`
WITH ${HOLD},
${METER_BESIDE}
UPDATE tasks t SET updated_at = now(), ${SPENT_BESIDE}
FROM run, task WHERE t.id = ${TASK_ID} RETURNING NULL AS steer, ${EXHAUSTED_NOW} AS exhausted`.rows<Written>();
