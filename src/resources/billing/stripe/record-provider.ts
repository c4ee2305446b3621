import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { recordAct } from '../../../access/audit/record.js';

/** Puts on record that the payment provider has changed the plan, the status or the renewal of a workspace (reference §14). */
export function recordProvider(tx: UnitOfWork, workspaceId: string): Promise<void> {
  const nobody = { actorId: null, keyId: null, address: null, requestId: null };
  return recordAct(tx, { workspaceId, ...nobody }, 'subscription.update', { type: 'workspace', id: workspaceId });
}
