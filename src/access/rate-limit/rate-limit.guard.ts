import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { authOf } from '../auth/auth.decorator.js';
import { refusal } from '../auth/scope.guard.js';
import { EndpointExplorer } from '../../platform/http/endpoint-explorer.js';
import { notesOf } from '../../platform/http/request-notes.js';
import { rateLimited } from './rate-limit-headers.js';
import { RateLimiter } from './rate-limiter.js';

/**
 * Takes each request of a key once, before anything else is looked at, and notes the charge. The interceptor or the error filter writes
 * its headers (docs/decisions/0070).
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly endpoints: EndpointExplorer,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { contract } = this.endpoints.of(context.getHandler());
    const { policy, ownCharge } = contract;
    if (policy === null) return true;
    const req = context.switchToHttp().getRequest<Request>();
    if (notesOf(req).within !== undefined) return true;
    const auth = authOf(req);
    // A caller that is refused does not reach the handler that would charge.
    if (ownCharge === true && refusal(contract, auth) === undefined) return true;
    const { credential, workspace } = auth;
    const charge = await this.limiter.charge(credential.id, workspace.plan, policy);
    if (!charge.allowed) throw rateLimited('requests with this credential', charge);
    notesOf(req).charge = charge;
    return true;
  }
}
