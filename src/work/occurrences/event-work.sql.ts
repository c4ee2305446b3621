// What the deliveries of providers start. A payload is kept until every run that needs it has its file.
import { columns } from '../../platform/database/columns.js';
import { sql, uuid } from '../../platform/database/sql.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { Automation } from '../../resources/automations/automation.entity.js';
import { Connection } from '../../resources/integrations/connection.entity.js';
import { HookDelivery } from '../../resources/integrations/hook-delivery.entity.js';

const DELIVERY = columns(HookDelivery, 'd', ['id', 'connectionId', 'event', 'payload']);
const CONNECTION = columns(Connection, 'c', ['workspaceId', 'slug']);
const WORKSPACE = columns(Workspace, 'w', ['plan']);
export type Delivery = typeof DELIVERY.row & typeof CONNECTION.row & typeof WORKSPACE.row;

const SELECT = sql`
SELECT ${DELIVERY}, ${CONNECTION}, ${WORKSPACE}
FROM hook_deliveries d JOIN connections c ON c.id = d.connection_id JOIN workspaces w ON w.id = c.workspace_id`;

export const DELIVERED = sql`${SELECT} WHERE d.id = ${uuid('deliveryId')}`.rows<Delivery>();

const AUTOMATION_ID = uuid('automationId');
/** The delivery that the waiting run of an automation is of; no row when none waits, or it is of none. */
export const AWAITED = sql`${SELECT}
JOIN automation_runs r ON r.delivery_id = d.id
WHERE r.automation_id = ${AUTOMATION_ID} AND r.status = 'waiting'`.rows<Delivery>();

const BOUND = columns(Automation, 'a', ['id', 'triggerEvent', 'filter']);
/** The active automations of a connection, oldest first. */
export const OF_CONNECTION = sql`
SELECT ${BOUND} FROM automations a
WHERE a.connection_id = ${uuid('connectionId')} AND a.status = 'active' AND a.trigger_event IS NOT NULL
ORDER BY a.created_at, a.id`.rows<typeof BOUND.row>();

/** Holds an automation, if it is still active and bound as it was found. */
export const HOLD_BOUND = sql`
SELECT a.id FROM automations a
WHERE a.id = ${AUTOMATION_ID} AND a.connection_id = ${uuid('connectionId')} AND a.status = 'active'
FOR UPDATE`.rows<{ id: string }>();

export const FREE_PAYLOAD = sql`
UPDATE hook_deliveries SET payload = NULL WHERE id = ${uuid('deliveryId')} AND payload IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM automation_runs WHERE delivery_id = ${uuid('deliveryId')} AND status = 'waiting')`.rows();
