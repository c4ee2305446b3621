import type { Request } from 'express';
import { ApiError } from '../../platform/http/api-error.js';
import { networkOf } from '../../platform/http/network.js';
import { rateLimited } from './rate-limited.js';
import type { RateLimiter } from './rate-limiter.js';

/** Counts a 401 for the address of its request. Resolves with it, or with 429 when it is one too many; any other error stays as it is. */
export async function counted(error: unknown, { ip = '' }: Request, limiter: RateLimiter): Promise<unknown> {
  if (!(error instanceof ApiError && error.status === 401)) return error;
  const charge = await limiter.chargeAddress(networkOf(ip));
  return charge.allowed ? error : rateLimited('requests without a valid credential from this address', charge);
}
