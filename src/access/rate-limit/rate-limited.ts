import { ApiError } from '../../platform/http/api-error.js';
import { type Charge, rateLimitHeaders, refusedBy } from './rate-limit-headers.js';

/** 429, with the headers of what was refused. */
export function rateLimited(what: string, charge: Charge): ApiError {
  const { bucket, seconds } = refusedBy(charge);
  const limit = `"${bucket.name}" takes ${bucket.capacity} in ${bucket.windowSeconds} seconds`;
  const message = `Too many ${what}: ${limit}; try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  return new ApiError('rate_limit_exceeded', message, { headers: rateLimitHeaders(charge) });
}
