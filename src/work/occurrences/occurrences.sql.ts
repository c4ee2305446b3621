// What is due, and how it moves on. All times are those of the database: schedule_now() is src/resources/automations/schedule-now.function.ts.
import { columns } from '../../platform/database/columns.js';
import { raw, sql, timeOrNull, uuid, uuids } from '../../platform/database/sql.js';
import { Automation } from '../../resources/automations/automation.entity.js';

/** Milliseconds until the earliest is due, none or less when it is. A look at one entry of an index. */
export const DUE_IN = sql`
SELECT extract(epoch FROM a.next_run_at - schedule_now())::float8 * 1000 AS ms FROM automations a
WHERE a.status = 'active' AND a.next_run_at IS NOT NULL ORDER BY a.next_run_at LIMIT 1`.rows<{ ms: number }>();

const DUE = columns(Automation, 'a', ['id', 'workspaceId', 'kind', 'cron', 'timezone']);
export type DueAutomation = typeof DUE.row & { dueAt: Date; now: Date };

const IS_DUE = sql`
SELECT ${DUE}, a.next_run_at AS "dueAt", schedule_now() AS now FROM automations a
WHERE a.status = 'active' AND a.next_run_at <= schedule_now()`;
const TAKE = raw('ORDER BY a.next_run_at LIMIT 1 FOR UPDATE SKIP LOCKED');

const NOT_PASSED = sql`a.id <> ALL(${uuids('passedBy')})`;
/**
 * Takes the one that has been due longest, and holds it until the end of the transaction; others pass it by. Workspaces that have none
 * in hand come first, so that a hundred of one do not stand before the one of another (docs/decisions/0037).
 */
export const TAKE_DUE = sql`
WITH waiting AS MATERIALIZED (${IS_DUE} AND ${NOT_PASSED} AND a.workspace_id <> ALL(${uuids('atWork')}) ${TAKE}),
further AS MATERIALIZED (${IS_DUE} AND ${NOT_PASSED} AND NOT EXISTS (SELECT FROM waiting) ${TAKE})
SELECT * FROM waiting UNION ALL SELECT * FROM further`.rows<DueAutomation>();

const ID = uuid('id');
/** The same one again, if it is still due. */
export const TAKE_ONE = sql`${IS_DUE} AND a.id = ${ID} ${TAKE}`.rows<DueAutomation>();

/** One that fires once is completed. One that was paused by its own run stays paused. */
export const MOVE_ON = sql`
UPDATE automations SET next_run_at = CASE status WHEN 'active' THEN ${timeOrNull('next')} END,
  status = CASE WHEN status = 'active' AND kind = 'one_time' THEN 'completed' ELSE status END
WHERE id = ${ID}`.rows();
