import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { NOBODY, recordAct } from '../../../access/audit/record.js';

/** Puts on record that the payment provider has changed the plan, the status or the renewal of a workspace (reference §14). */
export function recordProvider(tx: UnitOfWork, workspaceId: string): Promise<void> {
  return recordAct(tx, { workspaceId, ...NOBODY }, 'subscription.update', { type: 'workspace', id: workspaceId });
}
