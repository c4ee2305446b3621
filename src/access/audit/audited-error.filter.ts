import { type ArgumentsHost, Catch } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiError } from '../../platform/http/api-error.js';
import { EndpointExplorer } from '../../platform/http/endpoint-explorer.js';
import { ErrorFilter } from '../../platform/http/error.filter.js';
import { isKnown } from '../auth/auth.decorator.js';
import { writeRateLimit } from '../rate-limit/rate-limit.interceptor.js';
import { EndedKeyError } from '../auth/credentials.service.js';
import { actionOf, targetOf } from './action.js';
import { Refusals } from './refusals.js';
import { senderOf, wayOf } from './sender.js';

/**
 * The {@link ErrorFilter}, which also notes refusals for the audit log, once the answer is on its way: 403, and 401 when it is known
 * whose key it is. Nothing is asked of the database for that. It writes the rate limit of a request that a guard refused.
 */
@Catch()
export class AuditedErrorFilter extends ErrorFilter {
  constructor(
    private readonly routes: EndpointExplorer,
    private readonly refusals: Refusals,
  ) {
    super(routes);
  }

  override catch(exception: unknown, host: ArgumentsHost): void {
    const req = host.switchToHttp().getRequest<Request>();
    writeRateLimit(req, host.switchToHttp().getResponse<Response>());
    super.catch(exception, host);
    if (!(exception instanceof ApiError) || (exception.status !== 403 && exception.status !== 401)) return;
    if (exception instanceof EndedKeyError) this.note(req, exception, { ...exception.key, ...wayOf(req) });
    else if (isKnown(req)) this.note(req, exception, senderOf(req));
  }

  private note(req: Request, { code }: ApiError, sender: ReturnType<typeof senderOf>): void {
    const { path } = req.route as { path: string };
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    const route = this.routes.routes.find((one) => one.method === method && one.path === path) ?? { method, path };
    const { type: targetType = null, id: targetId = null } = targetOf(route, req.params) ?? {};
    this.refusals.note({ ...sender, action: actionOf(route), targetType, targetId, code });
  }
}
