import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { BearerGuard } from '../auth/bearer.guard.js';
import { ApiError } from '../../platform/http/api-error.js';
import { networkOf } from '../../platform/http/network.js';
import { rateLimited } from './rate-limited.js';
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
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      const { ip = '' } = context.switchToHttp().getRequest<Request>();
      const charge = await this.limiter.chargeAddress(networkOf(ip));
      throw charge.allowed ? error : rateLimited('requests without a valid credential from this address', charge);
    }
  }
}
