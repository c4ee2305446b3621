import type { Request } from 'express';
import { addressOf } from '../../platform/http/network.js';
import { requestIdOf } from '../../platform/http/request.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { authOf } from '../auth/auth.decorator.js';
import { recordAct, type Sender, type Target } from './record.js';

/** By whom a request was sent; its address is the socket's, or by `TRUST_PROXY`. */
export function senderOf(req: Request): Sender & { actorId: string; keyId: string } {
  const { workspaceId, userId, credential } = authOf(req);
  return { workspaceId, actorId: userId, keyId: credential.id, ...wayOf(req) };
}

/** From where a request came, and its id. */
export function wayOf(req: Request): Pick<Sender, 'address' | 'requestId'> {
  return { address: addressOf(req.ip ?? ''), requestId: req.res === undefined ? null : requestIdOf(req.res) };
}

/**
 * For a handler that opens a transaction of its own, because it reads its body as a stream. Around all others the unit of work does
 * this.
 */
export function recordStream(tx: UnitOfWork, req: Request, action: string, target: Target): Promise<void> {
  return recordAct(tx, senderOf(req), action, target);
}
