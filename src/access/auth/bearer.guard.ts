import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Env } from '../../platform/config/env.js';
import { endpointOf } from '../../platform/http/endpoint.js';
import { requireOwnOrigin } from '../../platform/http/origin.js';
import { RequestSlots } from '../../platform/http/request-slots.js';
import { RateLimiter } from '../rate-limit/rate-limiter.js';
import { isKnown, setAuth } from './auth.decorator.js';
import { BearerStrategy } from './bearer.strategy.js';

/** 401 for a caller that is not known. Routes of scope `public` pass. It limits failures by address, so that guessing is slow; a valid key always passes. */
@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly strategy: BearerStrategy,
    private readonly turns: RequestSlots,
    private readonly limiter: RateLimiter,
    private readonly env: Env,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { scopes, origin } = endpointOf(context.getHandler()) ?? {};
    if (scopes === 'public') return true;
    const http = context.switchToHttp();
    const req = http.getRequest<Request>();
    if (origin === 'own') requireOwnOrigin(req, this.env);
    // Only one that this process sends to itself comes here known.
    if (isKnown(req)) return true;
    await this.turns.arrive(req, http.getResponse());
    try {
      setAuth(req, await this.strategy.identify(req));
    } catch (error) {
      throw await this.limiter.counted(error, req);
    }
    return true;
  }
}
