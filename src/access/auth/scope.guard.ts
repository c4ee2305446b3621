import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApiError } from '../../platform/http/api-error.js';
import { type EndpointContract, SCOPES, writes } from '../../platform/http/endpoint.js';
import { EndpointExplorer } from '../../platform/http/endpoint-explorer.js';
import type { AuthContext } from './auth-context.js';
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

/** Why a caller may not use a route, or undefined: scopes first, then the role (reference §1, §3). */
export function refusal(
  contract: Pick<EndpointContract, 'scopes' | 'policy' | 'administrators' | 'notForViewers'>,
  caller: Pick<AuthContext, 'role' | 'scopes' | 'credentialType'>,
): ApiError | undefined {
  const { scopes } = contract;
  if (scopes === 'public') return undefined;
  if (scopes === 'any') {
    if (caller.credentialType === 'personal_api_key' || caller.scopes.length > 0) return undefined;
    return new ApiError('missing_scope', 'This credential has no scope at all; any one is needed.');
  }
  if ((scopes === 'personal' || scopes === 'administration') && caller.credentialType !== 'personal_api_key') {
    return new ApiError('role_not_allowed', 'This takes a personal key; a service account has none.');
  }
  const needed = scopes === 'administration' ? SCOPES : scopes === 'personal' ? [] : scopes;
  const missing = needed.find((scope) => !caller.scopes.includes(scope));
  if (missing !== undefined) return new ApiError('missing_scope', `This credential lacks the scope ${missing}.`);
  const administrators = contract.administrators === true || scopes === 'administration';
  if (administrators && caller.role !== 'owner' && caller.role !== 'admin') {
    return new ApiError('role_not_allowed', 'Only an owner or admin of the workspace does this.');
  }
  if (caller.role === 'viewer' && (contract.notForViewers === true || writes(contract))) {
    return new ApiError('role_not_allowed', 'A viewer of this workspace only reads.');
  }
  return undefined;
}
