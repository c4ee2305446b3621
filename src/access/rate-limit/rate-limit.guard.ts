import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { authOf } from '../auth/auth.decorator.js';
import { EndpointExplorer } from '../../platform/http/endpoint-explorer.js';
import { rateLimitHeaders } from './rate-limit-headers.js';
import { rateLimited } from './rate-limited.js';
import { RateLimiter } from './rate-limiter.js';

/**
 * Takes each request of a key once, before anything else is looked at. The headers are set on the response at once, so that
 * they are on whatever answer it becomes: the handler's, a stream, a replay or an error.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly endpoints: EndpointExplorer,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { policy } = this.endpoints.of(context.getHandler()).contract;
    if (policy === null) return true;
    const http = context.switchToHttp();
    const { credential, workspace } = authOf(http.getRequest<Request>());
    const charge = await this.limiter.charge(credential.id, workspace.plan, policy);
    if (!charge.allowed) throw rateLimited('requests with this credential', charge);
    const res = http.getResponse<Response>();
    for (const [name, value] of Object.entries(rateLimitHeaders(charge))) res.setHeader(name, value);
    return true;
  }
}
