// The verb `console link` (reference §16, §20).
import type { Command } from 'commander';
import { consoleHindrance, consoleLink } from '../../access/auth/console-address.js';
import { ConsoleSessions } from '../../access/auth/console-sessions.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { Env } from '../../platform/config/env.js';
import { type Verb, verb } from './verb.js';

interface Link {
  /** Null where nobody can say by which address people reach the service. */
  url: string | null;
  code: string;
  expiresAt: Date;
}

const link: Verb<Link> = async (services, options) => {
  const env = services.get(Env);
  const hindrance = consoleHindrance(env);
  if (hindrance !== null) throw new OperatorError(hindrance);
  const { code, expiresAt } = await services.get(ConsoleSessions).addCode(options.key ?? '');
  return { url: consoleLink(env, code), code, expiresAt };
};

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
