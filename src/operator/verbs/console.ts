// The verb `console link` (reference §16, §20).
import type { Command } from 'commander';
import { ConsoleSessions } from '../../access/auth/console-sessions.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { Env } from '../../platform/config/env.js';
import { isLoopback, leadsToLoopback } from '../../platform/http/network.js';
import { originOf } from '../doctor/service-answer.js';
import { type Verb, verb } from './verb.js';

interface Link {
  /** Null where nobody can say by which address people reach the service. */
  url: string | null;
  code: string;
  expiresAt: Date;
}

const link: Verb<Link> = async (services, options) => {
  const env = services.get(Env);
  if (env.variables.CONSOLE === 'off') throw new OperatorError('CONSOLE=off: this service has no console.');
  if (isPlainHttp(env.variables.PUBLIC_URL)) {
    throw new OperatorError(
      'PUBLIC_URL begins with http: nobody logs in to the console there. Set it to the https address.',
    );
  }
  const { code, expiresAt } = await services.get(ConsoleSessions).addCode(options.key ?? '');
  const origin = pageOrigin(env);
  // Behind the #, so that it reaches no log and no other site.
  return { url: origin === null ? null : `${origin}/console/#code=${code}`, code, expiresAt };
};

/** `PUBLIC_URL`, else where the service listens, if that is this machine alone: elsewhere nobody logs in without https. */
function pageOrigin(env: Env): string | null {
  const { PUBLIC_URL, HOST, PORT } = env.variables;
  if (PUBLIC_URL !== undefined) return PUBLIC_URL;
  const isReachable = HOST === '0.0.0.0' || HOST === '::' || isLoopback(HOST);
  return isReachable && PORT !== 0 ? originOf(env) : null;
}

/** Whether a log-in would send the key where others can read it; the service refuses it. */
function isPlainHttp(publicUrl: string | undefined): boolean {
  if (publicUrl === undefined) return false;
  const url = new URL(publicUrl);
  return url.protocol === 'http:' && !leadsToLoopback(url);
}

// Scripts take the first line.
const addressFirst = ({ url, code, expiresAt }: Link): string =>
  `${url ?? `/console/#code=${code}`}\nGood for one log-in, until ${expiresAt.toISOString()}.${url === null ? ' The service does not know its own address: put it before this path, or set PUBLIC_URL.' : ''}`;

/** Adds the verb to its group. */
export function consoleLinks(group: Command): void {
  verb(group, 'link', link, { words: addressFirst })
    .description('makes an address at which somebody logs in to the console with a key, once, within ten minutes')
    .example('--key 019aa3b5-7d1e-7f00-8a2b-3c4d5e6f7081')
    .requiredOption('--key <id>', "the key; 'key list' shows the ids");
}
