import { execFile } from 'node:child_process';
import { type LookupAddress, type LookupOptions, lookup as systemLookup, promises as dns } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { KeyedSemaphore } from '../fairness/keyed-semaphore.js';

/** As of node:dns, with `all`. `owner`: whose look-up it is, for a resolver that queues by owner. */
export type Resolver = (
  host: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  owner: string,
) => void;

/** How long one name server is waited for, in milliseconds, and how often it is asked. */
const SERVERS = { timeout: 1000, tries: 2 };
/** How long addresses of the one family wait for those of the other. Milliseconds. */
const OTHER_MS = 300;
/** This host, of which name servers know nothing (RFC 6761, section 6.3). */
const LOCALHOST = /(^|\.)localhost\.?$/i;
/** How long the system may look one name up, in milliseconds. */
const SYSTEM_MS = 5_000;
/** The system looks up one name of each owner at a time. */
const queue = new KeyedSemaphore(1);
/** Without getent(1) the system's look-ups run one after another, because each blocks a thread. This is the last of them. */
let latest: Promise<void> = Promise.resolve();
/** What a name server says of a name that it does not know, and what nobody says where there is none. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EBADNAME']);

/**
 * Asks the name servers, and the system's resolver for the names of `/etc/hosts` and for those that name servers do not know. The name
 * servers are asked without a thread: a name whose servers are dead holds up nobody else's look-up, where the system's resolver would
 * block one of two threads for half a minute. So the system is asked by a process that is ended after five seconds.
 */
export const byNameServers: Resolver = (host, options, done, owner) => {
  const failed = (code: string) => done(Object.assign(new Error(`${code} ${host}`), { code }), []);
  const bySystem = async () => {
    const end = await queue.acquire(owner);
    const found = await askSystem(host, options).finally(end);
    if (found.length > 0) done(null, found);
    else failed('ENOTFOUND');
  };
  const ask = async () => {
    if (await isLocal(host)) return bySystem();
    const { found, failure } = await askServers(host);
    if (found.length > 0) return done(null, found);
    return UNKNOWN.has(failure) ? bySystem() : failed(failure);
  };
  void ask();
};

/** Whether the host has the name from itself, and asks nobody. */
async function isLocal(host: string): Promise<boolean> {
  if (LOCALHOST.test(host)) return true;
  const lines = (await readFile('/etc/hosts', 'utf8').catch(() => '')).split('\n');
  const wanted = host.toLowerCase();
  return lines.some((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/).slice(1).includes(wanted));
}

/** What getaddrinfo(3) finds, in its order; nothing when it finds none. Never rejects. */
function askSystem(host: string, options: Parameters<Resolver>[1]): Promise<LookupAddress[]> {
  // No name begins with it, and getent(1) would take it for an option.
  if (host.startsWith('-')) return Promise.resolve([]);
  return new Promise((resolve) => {
    const how = { timeout: SYSTEM_MS, killSignal: 'SIGKILL' } as const;
    execFile('getent', ['ahosts', host], how, (error, printed) => {
      if ((error as NodeJS.ErrnoException | null)?.code === 'ENOENT') return resolve(askInThread(host, options));
      const addresses = new Set(printed.split('\n').flatMap((line) => line.split(/\s+/)[0] || []));
      resolve([...addresses].map((address) => ({ address, family: isIP(address) })));
    });
  });
}

function askInThread(host: string, options: Parameters<Resolver>[1]): Promise<LookupAddress[]> {
  const asked = latest.then(
    () =>
      new Promise<LookupAddress[]>((resolve) =>
        systemLookup(host, options, (error, found) => resolve(error === null ? found : [])),
      ),
  );
  latest = asked.then(() => undefined);
  return asked;
}

/** Never rejects. `failure`: of those that failed, one that is no answer before one that is. */
async function askServers(host: string): Promise<{ found: LookupAddress[]; failure: string }> {
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
