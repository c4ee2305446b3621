import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { EndpointExplorer } from '../../platform/http/endpoint-explorer.js';
import { refusal } from './access.js';
import { authOf } from './auth.decorator.js';

/** Lets in a caller that has the route's scopes and a role that may do it. */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly endpoints: EndpointExplorer) {}

  canActivate(context: ExecutionContext): boolean {
    const { contract } = this.endpoints.of(context.getHandler());
    if (contract.scopes === 'public') return true;
    const refused = refusal(contract, authOf(context.switchToHttp().getRequest<Request>()));
    if (refused !== undefined) throw refused;
    return true;
  }
}
