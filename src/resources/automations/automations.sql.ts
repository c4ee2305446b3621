// The statements of automations. Locks are taken in the order membership, project, connection, automations by id, workspace, tasks by
// id. Who holds an automation does not wait for its connection: see FOR_OWNER.
import { visible } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { type Fragment, sql, uuid } from '../../platform/database/sql.js';
import { newestFirst } from '../../platform/http/pages.js';
import { AutomationRun } from './automation-run.entity.js';
import { Automation } from './automation.entity.js';

const AUTOMATION = columns(Automation, 'a', [
  'id',
  'workspaceId',
  'ownerId',
  'projectId',
  'connectionId',
  'name',
  'kind',
  'status',
  'pausedReason',
  'content',
  'model',
  'effort',
  'approvals',
  'whenBlocked',
  'web',
  'skills',
  'mcpServers',
  'budget',
  'repository',
  'environment',
  'agent',
  'checks',
  'maxRepairs',
  'secrets',
  'cron',
  'timezone',
  'runAt',
  'triggerEvent',
  'filter',
  'overlap',
  'nextRunAt',
  'consecutiveFailures',
  'createdAt',
  'updatedAt',
]);
/** An automation alone. */
export type LockedAutomation = typeof AUTOMATION.row;

/** What the last run of an automation was; all three are null before the first. */
interface LastRun {
  lastRunAt: Date | null;
  lastRunStatus: AutomationRun['status'] | null;
  lastTaskId: string | null;
}

/** An automation with the name of its owner and its last run. */
export type AutomationRow = LockedAutomation & LastRun & { ownerName: string };

const ID = uuid('id');
const SELECT = sql`
SELECT ${AUTOMATION}, u.name AS "ownerName", last.created_at AS "lastRunAt", last.status AS "lastRunStatus", last.task_id AS "lastTaskId"
FROM automations a JOIN users u ON u.id = a.owner_id
LEFT JOIN LATERAL (SELECT r.created_at, r.status, r.task_id FROM automation_runs r WHERE r.automation_id = a.id
  ORDER BY r.created_at DESC, r.id DESC LIMIT 1) last ON true`;
const SEEN = visible('a', 'owner_id');

/** An automation that the caller sees. */
export const GET = sql`${SELECT} WHERE ${SEEN} AND a.id = ${ID}`.rows<AutomationRow>();

/** For a caller who has seen it in this transaction. */
export const READ = sql`${SELECT} WHERE a.id = ${ID}`.rows<AutomationRow>();

export const LIST = sql`${SELECT} WHERE ${SEEN} ${newestFirst('a')}`.rows<AutomationRow>();

/** Locks an automation that the caller sees: it does not fire, change or go until the transaction ends. */
export const LOCK = sql`
SELECT ${AUTOMATION} FROM automations a WHERE ${SEEN} AND a.id = ${ID} FOR UPDATE OF a`.rows<LockedAutomation>();

/** For the operator: of the workspace, of any owner. */
export const LOCK_IN_WORKSPACE = sql`
SELECT ${AUTOMATION} FROM automations a WHERE a.workspace_id = ${uuid('workspaceId')} AND a.id = ${ID}
FOR UPDATE OF a`.rows<LockedAutomation>();
export const LIST_IN_WORKSPACE = sql`${SELECT} WHERE a.workspace_id = ${uuid('workspaceId')}
ORDER BY a.created_at, a.id`.rows<AutomationRow>();

export const LOCK_BY_ID = sql`SELECT 1 FROM automations WHERE id = ${ID} FOR UPDATE`.rows();

/** By the clock that automations fire by. */
export const NOW = sql`SELECT schedule_now() AS now`.rows<{ now: Date }>();

/** One after the other, so that two of them do not both count one too few. */
export const LOCK_ACTIVE = sql`
SELECT 1 FROM workspaces WHERE id = ${uuid('workspaceId')} FOR NO KEY UPDATE`.rows();

const RUN = columns(AutomationRun, 'r', ['id', 'automationId', 'triggerType', 'scheduledAt', 'event', 'status', 'reason', 'taskId', 'createdAt']); // prettier-ignore
export type RunRow = typeof RUN.row;

/** Of an automation that the caller sees. */
export const RUNS = sql`
SELECT ${RUN} FROM automation_runs r JOIN automations a ON a.id = r.automation_id
WHERE ${SEEN} AND a.id = ${ID} ${newestFirst('r')}`.rows<RunRow>();
/** A row if the caller sees the automation. */
export const SEES = sql`SELECT 1 FROM automations a WHERE ${SEEN} AND a.id = ${ID}`.rows();

/** Locks the active automations `a` that `which` holds for. By id, as everybody locks several. */
const lockActive = <P>(which: Fragment<P>) =>
  sql`
SELECT a.id, a.workspace_id AS "workspaceId" FROM automations a
WHERE a.status = 'active' AND ${which} ORDER BY a.id FOR UPDATE`.rows<Pick<LockedAutomation, 'id' | 'workspaceId'>>();

/** Those that a connection brings events to. */
export const LOCK_BOUND = lockActive(sql`a.connection_id = ${uuid('connectionId')}`);

/** Those of a member. */
export const LOCK_OF_OWNER = lockActive(
  sql`a.workspace_id = ${uuid('workspaceId')} AND a.owner_id = ${uuid('userId')}`,
);
