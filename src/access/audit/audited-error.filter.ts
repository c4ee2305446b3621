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
 * The {@link ErrorFilter}, which also queues refusals for the audit log, after the answer: 403, and 401 when the key is known. This
 * takes no round trip to the database. It also writes the rate-limit headers of a request that a guard refused.
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
    if (exception instanceof EndedKeyError) this.record(req, exception, { ...exception.key, ...wayOf(req) });
    else if (isKnown(req)) this.record(req, exception, senderOf(req));
  }

  private record(req: Request, { code }: ApiError, sender: ReturnType<typeof senderOf>): void {
    const { path } = req.route as { path: string };
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    const route = this.routes.routes.find((one) => one.method === method && one.path === path) ?? { method, path };
    const { type: targetType = null, id: targetId = null } = targetOf(route, req.params) ?? {};
    this.refusals.add({ ...sender, action: actionOf(route), targetType, targetId, code });
  }
}
