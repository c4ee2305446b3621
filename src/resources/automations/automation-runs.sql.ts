// How the runs of automations are made. The caller holds the automation's row: the locks of the owner's membership and of the
// project, which others take before it, are therefore not waited for (55P03, and the transaction is tried again).
import { columns } from '../../platform/database/columns.js';
import {
  bigint,
  field,
  type Fragment,
  jsonb,
  type None,
  raw,
  sql,
  text,
  textOrNull,
  texts,
  timeOrNull,
  uuid,
  uuidOrNull,
  uuids,
} from '../../platform/database/sql.js';
import type { Membership } from '../../access/workspaces/membership.entity.js';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { room } from '../files/storage-quota.sql.js';
import { AutomationRun } from './automation-run.entity.js';
import { Automation } from './automation.entity.js';

const RUN = columns(AutomationRun, 'r', [
  'id',
  'automationId',
  'triggerType',
  'scheduledAt',
  'event',
  'deliveryId',
  'status',
  'reason',
  'taskId',
  'createdAt',
]);
export type AutomationRunRow = typeof RUN.row;

/** In words, for the owner of the automation. */
export type RunReason = NonNullable<AutomationRunRow['reason']>;

const AUTOMATION = columns(Automation, 'a', [
  'id',
  'workspaceId',
  'ownerId',
  'projectId',
  'status',
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
  'triggerEvent',
  'overlap',
]);
const OWNER = columns(User, 'u', ['email']);
const WORKSPACE = columns(Workspace, 'w', ['slug', 'plan', 'transparency', 'defaultAgent']);

/** An automation that is to fire, with what decides whether it may. */
export type FiringAutomation = typeof AUTOMATION.row &
  typeof OWNER.row &
  typeof WORKSPACE.row & {
    /** By the clock that automations fire by. */
    now: Date;
    ownerName: string;
    workspaceName: string;
    /** Null when the owner is no member of the workspace any more. */
    role: Membership['role'] | null;
    /** It is active, and as many older ones are as the plan allows. */
    beyondPlan: boolean;
    /** Its connection is there, and is the owner's or the workspace's. */
    connected: boolean;
    /** The task of a run before is queued or running. */
    busy: boolean;
    /** Some run of it waits already. */
    waits: boolean;
  };

/** Active automations that a workspace of each plan may have. */
export interface ActiveLimits {
  free: number;
  paid: number;
}

const limits = field<ActiveLimits>();
const LIMIT = sql`CASE w.plan WHEN 'free' THEN ${limits('limits', 'free', 'int')} ELSE ${limits('limits', 'paid', 'int')} END`;
const AUTOMATION_ID = uuid('automationId');

const lastTask = (automationId: Fragment<None>, more: Fragment<None>) => sql`(
  SELECT p.task_id FROM automation_runs p WHERE p.automation_id = ${automationId} AND p.status = 'started' ${more}
  ORDER BY p.created_at DESC, p.id DESC LIMIT 1)`;

/**
 * The task of the last run that has started is queued or running, or that of the last one that nobody asked for: a run by hand
 * starts beside it, and a run that waits is older than one by hand that starts meanwhile.
 */
const busy = (automationId: Fragment<None>) => sql`EXISTS (
  SELECT 1 FROM tasks t WHERE t.status IN ('queued', 'running')
    AND t.id IN (${lastTask(automationId, raw(''))}, ${lastTask(automationId, raw("AND p.trigger_type <> 'manual'"))}))`;

/** The owner's membership and the project stay until the end of the transaction. */
export const LOAD = sql`
SELECT ${AUTOMATION}, schedule_now() AS now, u.name AS "ownerName", ${OWNER}, w.name AS "workspaceName", ${WORKSPACE}, m.role, ${busy(raw('a.id'))} AS busy,
  EXISTS (SELECT 1 FROM automation_runs r WHERE r.automation_id = a.id AND r.status = 'waiting') AS waits,
  a.status = 'active' AND (${LIMIT} = 0 OR EXISTS (
    SELECT 1 FROM automations o
    WHERE o.workspace_id = a.workspace_id AND o.status = 'active' AND (o.created_at, o.id) < (a.created_at, a.id)
    OFFSET greatest(${LIMIT} - 1, 0))) AS "beyondPlan",
  EXISTS (SELECT 1 FROM connections c
    WHERE c.id = a.connection_id AND (c.user_id IS NULL OR c.user_id = a.owner_id)) AS connected
FROM automations a JOIN users u ON u.id = a.owner_id JOIN workspaces w ON w.id = a.workspace_id
LEFT JOIN LATERAL (
  SELECT role FROM memberships WHERE workspace_id = a.workspace_id AND user_id = a.owner_id FOR KEY SHARE NOWAIT) m ON true
LEFT JOIN LATERAL (SELECT 1 FROM projects WHERE id = a.project_id FOR KEY SHARE NOWAIT) p ON true
WHERE a.id = ${AUTOMATION_ID}`.rows<FiringAutomation>();

/** No row when the occurrence, or the delivery, has its run already. */
export const INSERT_RUN = sql`
INSERT INTO automation_runs AS r (id, automation_id, trigger_type, scheduled_at, event, delivery_id, status, reason)
VALUES (${uuid('id')}, ${AUTOMATION_ID}, ${text('triggerType')}, ${timeOrNull('scheduledAt')}, ${textOrNull('event')},
  ${uuidOrNull('deliveryId')}, ${text('status')}, ${jsonb<RunReason | null>()('reason')})
ON CONFLICT DO NOTHING
RETURNING ${RUN}`.rows<AutomationRunRow>();

/** Those that have a run already are left out. `times` and `reasons` as text, of equal length. */
export const INSERT_MISSED = sql`
INSERT INTO automation_runs AS r (id, automation_id, trigger_type, scheduled_at, status, reason)
SELECT m.id, ${AUTOMATION_ID}, 'schedule', m.at::timestamptz, 'skipped', m.reason::jsonb
FROM unnest(${uuids('ids')}, ${texts('times')}, ${texts('reasons')}) AS m(id, at, reason)
ON CONFLICT DO NOTHING
RETURNING ${RUN}`.rows<AutomationRunRow>();

/** What has become of a run that was just inserted, or that waited. */
export const SETTLE_RUN = sql`
UPDATE automation_runs SET status = ${text('status')}, reason = ${jsonb<RunReason | null>()('reason')},
  task_id = ${uuidOrNull('taskId')}
WHERE id = ${uuid('id')}`.rows();

/** The run that waits, if the task before it has ended. */
export const WAITING_RUN = sql`
SELECT ${RUN} FROM automation_runs r
WHERE r.automation_id = ${AUTOMATION_ID} AND r.status = 'waiting' AND NOT ${busy(raw('r.automation_id'))}`.rows<AutomationRunRow>();

const ONE = columns(AutomationRun, 'r', ['automationId']);
const WHOSE = columns(Automation, 'a', ['workspaceId']);
/** The automation, or with null all, of which the waiting run has nothing to wait for any more. */
export const NO_LONGER_WAITING = sql`
SELECT ${ONE}, ${WHOSE} FROM automation_runs r JOIN automations a ON a.id = r.automation_id
WHERE r.status = 'waiting' AND (${uuidOrNull('ofAutomation')} IS NULL OR r.automation_id = ${uuidOrNull('ofAutomation')})
  AND NOT ${busy(raw('r.automation_id'))}`.rows<typeof ONE.row & typeof WHOSE.row>();

/** What waits when an automation is paused or completed is not started any more. */
export const SKIP_WAITING = sql`
UPDATE automation_runs r SET status = 'skipped', reason = ${jsonb<RunReason>()('reason')}
WHERE r.automation_id = ${AUTOMATION_ID} AND r.status = 'waiting' RETURNING ${RUN}`.rows<AutomationRunRow>();

const SIZE = bigint('size');
const WORKSPACE_ID = uuid('workspaceId');
/** A row when a file of this size fits; the room is then there until the end of the transaction. */
export const FITS = sql`WITH ${room(WORKSPACE_ID, SIZE)} SELECT 1 FROM room`.rows();

/** The payload of an event, as an attachment of its task. */
export const INSERT_EVENT_FILE = sql`
INSERT INTO files (id, workspace_id, task_id, origin, name, path, media_type, size, sha256, created_by)
VALUES (${uuid('id')}, ${WORKSPACE_ID}, ${uuid('taskId')}, 'attachment', ${text('name')}, ${text('name')}, 'application/json', ${SIZE},
  ${text('sha256')}, ${uuid('userId')})`.rows();
