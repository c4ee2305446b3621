import { ApiError } from '../http/api-error.js';
import { type Charge, rateLimitHeaders } from './rate-limit-headers.js';

/** 429, with the headers of what was refused. */
export function rateLimited(what: string, charge: Charge): ApiError {
  const headers = rateLimitHeaders(charge);
  const message = `Too many ${what}: try again in ${headers['Retry-After']} seconds.`;
  return new ApiError('rate_limit_exceeded', message, { headers });
}
