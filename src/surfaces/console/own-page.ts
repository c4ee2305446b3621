import type { Request } from 'express';
import { isOfOwnPage } from '../../access/auth/session-cookies.js';
import { ApiError } from '../../platform/http/api-error.js';

/** Throws 403 for what another page sends, on another port of this host too, and for what no browser has sent. */
export function requireOwnPage(req: Request): void {
  if (isOfOwnPage(req)) return;
  const message =
    'Only the console itself logs in and out here. If this is the console: open it over https, or at http://localhost on this machine, in a current browser; a proxy must pass the header Sec-Fetch-Site on. Programs send their key with each request.';
  throw new ApiError('cross_site', message);
}
