// How many descriptors (files and connections, `nofile`) the system lets this process have, and what it needs them for.
import { readFileSync } from 'node:fs';
import { ConfigurationError, type Env } from './env.js';

/** What an idle process has open (27 measured), and what a look at the disk or a file that is read adds for a moment. */
const GROUND = 32;
/** What the pools of one process may open together: `database.ts`, `database.module.ts` and the channel (docs/operating.md). */
export const DATABASE_CONNECTIONS = 48;
/** With those to Redis. */
const POOLS = DATABASE_CONNECTIONS + 12;
/** Connections beyond the cap that are still being told so. */
export const LINGERING = 32;
/** For each place of a worker: three pipes, two files of output, a connection to the model, and a file that is published. */
const PLACE = 8;
/** What the default leaves for the above, at least. It does for a worker with 16 places. */
const RESERVE = 256;
const MOST = 10_000;
/** Fewer connections than so many get a warning. */
const FEW = 1_000;

/** The most connections at once, and what an operator should know about that number. */
export interface ConnectionLimit {
  most: number;
  warning: string | null;
}

/**
 * The most connections that the API takes at once (reference §16): `MAX_CONNECTIONS`, else what the system allows. Throws a
 * {@link ConfigurationError} where the system does not allow what is configured: the process would fail later, with EMFILE, at
 * whatever it opens then.
 */
export function connectionLimit(env: Env, limit = descriptorLimit()): ConnectionLimit {
  const { MAX_CONNECTIONS: given, WORKER_CONCURRENCY: places } = env.variables;
  const work = env.runsWork ? places * PLACE : 0;
  const own = GROUND + POOLS + LINGERING + work;
  const sum = `${own} for itself (${work} of them for the commands of WORKER_CONCURRENCY=${places})`;
  const allowed = `The system lets this process open ${limit} files (the hard limit of nofile)`;
  if (limit - own < 2) {
    throw new ConfigurationError(
      `nofile: a hard limit of at least ${own + FEW} is expected. ${allowed}; it needs ${sum}.`,
    );
  }
  if (given !== undefined && given > limit - own) {
    const most = `MAX_CONNECTIONS: at most ${limit - own} is expected`;
    throw new ConfigurationError(`${most}. ${allowed}; it needs ${sum}, and one for each connection.`);
  }
  if (given !== undefined) return { most: given, warning: null };
  const most = Math.min(MOST, limit - Math.max(RESERVE, own));
  if (most >= FEW) return { most, warning: null };
  const left = Math.max(2, most);
  const more = `Raise nofile (ulimit -Hn, LimitNOFILE=, --ulimit nofile=) to ${MOST + Math.max(RESERVE, own)} for ${MOST}`;
  return { most: left, warning: `${allowed}, so it takes ${left} connections at once; it needs ${sum}. ${more}.` };
}

/**
 * How many descriptors the system lets this process have: the hard limit, to which Node raises the soft one when it starts. Infinite
 * where the system does not say.
 */
export function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
