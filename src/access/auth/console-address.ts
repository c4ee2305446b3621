// By which address people reach the console, and whether they can log in there (reference §20).
import type { Env } from '../../platform/config/env.js';
import { listeningOrigin } from '../../platform/http/listening.js';
import { isLoopback, leadsToLoopback } from '../../platform/http/network.js';

/** Why nobody can log in to the console of this service, as a sentence; null where people can. */
export function consoleHindrance({ variables: { CONSOLE, PUBLIC_URL } }: Env): string | null {
  if (CONSOLE === 'off') return 'CONSOLE=off: this service has no console.';
  if (!isPlainHttp(PUBLIC_URL)) return null;
  return 'PUBLIC_URL begins with http: nobody logs in to the console there. Set it to the https address.';
}

/**
 * The address that logs in with a code; null where nobody can say by which address people reach the service.
 * @param page of the console, where the link leads to.
 */
export function consoleLink(env: Env, code: string, page = ''): string | null {
  const origin = pageOrigin(env);
  // Behind the #, so that it reaches no log and no other site.
  return origin === null ? null : `${origin}/console/${page}#code=${code}`;
}

/** `PUBLIC_URL`, else where the service listens, if that is this machine alone: elsewhere nobody logs in without https. */
function pageOrigin(env: Env): string | null {
  const { PUBLIC_URL, HOST, PORT } = env.variables;
  if (PUBLIC_URL !== undefined) return PUBLIC_URL;
  const isReachable = HOST === '0.0.0.0' || HOST === '::' || isLoopback(HOST);
  return isReachable && PORT !== 0 ? listeningOrigin(env) : null;
}

/** Whether a log-in would send the key where others can read it; the service refuses it. */
function isPlainHttp(publicUrl: string | undefined): boolean {
  if (publicUrl === undefined) return false;
  const url = new URL(publicUrl);
  return url.protocol === 'http:' && !leadsToLoopback(url);
}
