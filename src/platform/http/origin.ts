import type { Request } from 'express';
import type { Env } from '../config/env.js';
import { ApiError } from './api-error.js';
import { leadsToLoopback } from './network.js';

/**
 * What absolute links begin with, without a slash at the end: `PUBLIC_URL`, else the `Host` of the request (behind
 * `TRUST_PROXY` the one that the proxy forwards), else, when that is no host, the address at which the request came in.
 */
export function originOf(req: Request, env: Env): string {
  if (env.variables.PUBLIC_URL !== undefined) return env.variables.PUBLIC_URL;
  // Both come from the client, so only what reads as an origin may stand in a link.
  const scheme = req.protocol === 'https' ? 'https' : 'http';
  const host = String(req.host);
  const claimed = `${scheme}://${host}`;
  if (/^[\w.:[\]-]+$/.test(host) && req.host && URL.canParse(claimed)) return new URL(claimed).origin;
  const { localAddress = '127.0.0.1', localPort = 80, localFamily } = req.socket;
  return `http://${localFamily === 'IPv6' ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/**
 * Throws 403 for what a page of another origin sends. Without `PUBLIC_URL` only a service on loopback has pages of its own: any other name
 * may be one that an attacker lets lead to this machine.
 */
export function requireOwnOrigin(req: Request, env: Env): void {
  const { origin } = req.headers;
  if (origin === undefined) return;
  const own = new URL(originOf(req, env));
  const known = env.variables.PUBLIC_URL !== undefined || leadsToLoopback(own);
  if (known && origin === own.origin) return;
  const message =
    'Pages of this origin do not speak to this service; programs send no Origin, or set PUBLIC_URL to it.';
  throw new ApiError('origin_not_allowed', message);
}
