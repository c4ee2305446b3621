import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { endpointOf } from '../../platform/http/endpoint.js';
import { RequestSlots } from '../../platform/http/request-slots.js';
import { RateLimiter } from '../rate-limit/rate-limiter.js';
import { setAuth } from './auth.decorator.js';
import { BearerStrategy } from './bearer.strategy.js';

/** 401 for a caller that is not known. Routes of scope `public` pass. It limits failures by address, so that guessing is slow; a valid key always passes. */
@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly strategy: BearerStrategy,
    private readonly turns: RequestSlots,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (endpointOf(context.getHandler())?.scopes === 'public') return true;
    const http = context.switchToHttp();
    const req = http.getRequest<Request>();
    await this.turns.arrive(req, http.getResponse());
    try {
      setAuth(req, await this.strategy.identify(req));
    } catch (error) {
      throw await this.limiter.counted(error, req);
    }
    return true;
  }
}
