import { type LookupAddress, lookup as systemLookup, promises as dns } from 'node:dns';
import { setTimeout as wait } from 'node:timers/promises';
import type { Resolver } from './egress.js';

/** How long one name server is waited for, in milliseconds, and how often it is asked. */
const SERVERS = { timeout: 1000, tries: 2 };
/** How long addresses of the one family wait for those of the other. Milliseconds. */
const OTHER_MS = 300;
/** This host, of which name servers know nothing (RFC 6761, section 6.3). */
const LOCALHOST = /(^|\.)localhost\.?$/i;
/** As long as a look-up is waited for. Milliseconds. */
const PATIENCE_MS = 5_000;
/** The system's look-ups go one after another, and not in the way of those for clones. */
let latest: Promise<void> = Promise.resolve();
/** What a name server says of a name that it does not know, and what nobody says where there is none. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EBADNAME']);

/**
 * Asks the name servers, and the system's resolver (`/etc/hosts` and what else it is configured for) for names that they do not know.
 * The name servers are asked without a thread: a name whose servers are dead holds up nobody else's look-up, where the system's
 * resolver would block one of two threads for half a minute. Of the system's look-ups there is one at a time, and none for an asker who has given up.
 */
export const byNameServers: Resolver = (host, options, done) => {
  void askServers(host).then(({ found, failure }) => {
    if (found.length > 0) return done(null, found);
    if (!UNKNOWN.has(failure)) return done(Object.assign(new Error(`${failure} ${host}`), { code: failure }), []);
    const patience = performance.now() + PATIENCE_MS;
    latest = latest.then(() => {
      if (performance.now() > patience) return;
      return new Promise((over) =>
        systemLookup(host, options, (error, addresses) => {
          over();
          done(error, addresses);
        }),
      );
    });
  });
};

/** Never rejects. `failure`: of those that failed, one that is no answer before one that is. */
async function askServers(host: string): Promise<{ found: LookupAddress[]; failure: string }> {
  if (LOCALHOST.test(host)) return { found: [], failure: 'ENOTFOUND' };
  const resolver = new dns.Resolver(SERVERS);
  const found: LookupAddress[] = [];
  const failures: string[] = [];
  const ask = async (family: 4 | 6) => {
    try {
      const addresses = await (family === 4 ? resolver.resolve4(host) : resolver.resolve6(host));
      found.push(...addresses.map((address) => ({ address, family })));
    } catch (error) {
      failures.push((error as NodeJS.ErrnoException).code ?? 'EFAIL');
    }
  };
  const asked = [ask(4), ask(6)];
  await Promise.race(asked);
  await Promise.race([Promise.all(asked), ...(found.length > 0 ? [wait(OTHER_MS)] : [])]);
  resolver.cancel();
  return { found: [...found], failure: failures.find((code) => !UNKNOWN.has(code)) ?? failures[0] ?? 'ENODATA' };
}
