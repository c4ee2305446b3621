import { columns } from '../../platform/database/columns.js';
import { sql, text, uuid } from '../../platform/database/sql.js';
import { Automation } from '../../resources/automations/automation.entity.js';

const COUNT = columns(Automation, 'a', ['consecutiveFailures']);
const TYPE = text('type');

/** A completed task ends the row of failures; one that was cancelled, or asks a person, says nothing about it. */
export const COUNT_END = sql`
UPDATE automations a SET consecutive_failures = CASE ${TYPE}
  WHEN 'task.failed' THEN a.consecutive_failures + 1 WHEN 'task.completed' THEN 0 ELSE a.consecutive_failures END
WHERE a.id = ${uuid('automationId')} RETURNING ${COUNT}`.rows<typeof COUNT.row>();
