import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { endpointOf } from '../http/endpoint.js';

/** 401 for whoever is not known; routes of scope `public` pass. Strategy and property come from the module's options. */
@Injectable()
export class BearerGuard extends AuthGuard() {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (endpointOf(context.getHandler())?.scopes === 'public') return true;
    return (await super.canActivate(context)) as boolean;
  }
}
