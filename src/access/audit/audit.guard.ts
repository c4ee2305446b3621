import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApiError } from '../../platform/http/api-error.js';
import { SCOPES } from '../../platform/http/endpoint.js';
import { authOf } from '../auth/auth.decorator.js';

/** 403 but for a key with all ten scopes of an owner or admin: the log shows what everybody did, everywhere in the workspace. */
@Injectable()
export class AuditGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const auth = authOf(context.switchToHttp().getRequest<Request>());
    for (const scope of SCOPES) auth.require(scope);
    if (auth.seesEverything) return true;
    throw new ApiError('role_not_allowed', 'Only an owner or admin of the workspace reads its audit log.');
  }
}
