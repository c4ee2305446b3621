import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { recordAct, type Target } from '../audit/record.js';
import type { Directory } from './scim-tokens.js';

/** A request of a directory: for which workspace, by which token, from where. */
export interface DirectoryRequest extends Directory {
  address: string | null;
  requestId: string | null;
}

/** Puts an act of a directory on record. */
export function recorded(
  tx: UnitOfWork,
  { id: keyId, workspaceId, address, requestId }: DirectoryRequest,
  action: string,
  target: Target,
): Promise<void> {
  return recordAct(tx, { workspaceId, actorId: null, keyId, address, requestId }, action, target);
}
