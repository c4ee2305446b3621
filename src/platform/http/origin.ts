import type { Request } from 'express';
import type { Env } from '../config/env.js';

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
