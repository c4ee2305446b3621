import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { BearerGuard } from '../auth/bearer.guard.js';
import { counted } from './failed-authentication.js';
import { RateLimiter } from './rate-limiter.js';

/** Limits failed authentications by address, so that guessing is slow. A request with a valid key always passes. */
@Injectable()
export class ThrottledBearerGuard implements CanActivate {
  constructor(
    private readonly bearer: BearerGuard,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    try {
      return await this.bearer.canActivate(context);
    } catch (error) {
      throw await counted(error, context.switchToHttp().getRequest<Request>(), this.limiter);
    }
  }
}
