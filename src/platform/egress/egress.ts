// The one way out to addresses that tenants name: a name is resolved once, all that it resolves to is checked, and the connection
// goes to what was checked. A second look-up could be answered otherwise (DNS rebinding).
import type { LookupAddress, LookupOptions } from 'node:dns';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { NAME_LOOKUPS } from '../fairness/shares.js';
import { KeyedSemaphore } from '../fairness/keyed-semaphore.js';
import { byNameServers, type Resolver } from './name-servers.js';
import { AllowedNetworks } from './networks.js';

/** The address of a URL may not be connected to. The message is for the tenant: it names no address that a name resolved to. */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly code = 'EBLOCKED';
}

/** How long one look-up may take, in milliseconds. */
const LOOKUP_MS = 5000;
const queue = new KeyedSemaphore(NAME_LOOKUPS);
/** The owner of look-ups that belong to no workspace. */
const NOBODY = '';

/** The way out for one use, such as webhooks or repositories, with the networks that the operator allows for it. */
export class Egress {
  private readonly networks: AllowedNetworks;

  /**
   * @param cidrs networks that are allowed although they are not public.
   * @param resolver blocks no thread; a test has its own, and its own patience.
   * @param fair `false`: owners do not wait for each other's look-ups.
   */
  constructor(
    cidrs: readonly string[],
    private readonly resolver: Resolver = byNameServers,
    private readonly lookupMs = LOOKUP_MS,
    private readonly fair = true,
  ) {
    this.networks = new AllowedNetworks(cidrs);
  }

  /** Whether the host is written as an address that is not allowed. For a name, call {@link addresses}. */
  refuses(url: URL): boolean {
    const literal = literalOf(url);
    return literal !== null && !this.allows(literal, url);
  }

  /**
   * The addresses of the host, all of them checked, to connect to in this order. Rejects with {@link EgressError} when one of them
   * is not allowed or it takes too long, with the error of node:dns when there are none, and with the reason of the signal.
   * @param owner whose look-up it is, such as a workspace: each has its part of the look-ups at once.
   */
  async addresses(url: URL, owner = NOBODY, signal?: AbortSignal): Promise<string[]> {
    const literal = literalOf(url);
    if (literal !== null && !this.allows(literal, url)) throw blocked(url);
    if (literal !== null) return [literal];
    return (await this.resolved(url, owner, { all: true, verbatim: true }, signal)).map(({ address }) => address);
  }

  /**
   * Begins a request as node:http does: its errors are events, a redirect is an answer like any other. The connection is the
   * request's own, goes to an address that was checked, and breaks with {@link EgressError} before it is opened when there is none.
   */
  request(
    url: URL,
    options: Omit<
      RequestOptions,
      'agent' | 'lookup' | 'host' | 'hostname' | 'port' | 'socketPath' | 'createConnection'
    >,
    owner = NOBODY,
  ): ClientRequest {
    // Node asks no look-up for an address.
    if (this.refuses(url)) throw blocked(url);
    const lookup: LookupFunction = (_host, how, done) => {
      this.resolved(url, owner, { ...how, all: true }, options.signal).then(
        (found) => (how.all === true ? done(null, found) : done(null, found[0]?.address ?? '', found[0]?.family)),
        (error: Error) => done(error, []),
      );
    };
    const begin = url.protocol === 'https:' ? httpsRequest : httpRequest;
    return begin(url, { ...options, agent: false, lookup });
  }

  /** Waits in the queue of its owner. The slot is free again when the look-up ends or its time is over, also when nobody waits for it any more. */
  private async resolved(
    url: URL,
    owner: string,
    options: LookupOptions & { all: true },
    signal?: AbortSignal,
  ): Promise<LookupAddress[]> {
    const end = this.fair ? await queue.acquire(owner, signal) : () => undefined;
    let abort = () => undefined as void;
    try {
      // The signal may have been aborted while it waited.
      signal?.throwIfAborted();
    } catch (error) {
      end();
      throw error;
    }
    const found = this.lookUp(url, owner, options).finally(end);
    try {
      return await Promise.race([
        found,
        new Promise<never>((_, reject) => {
          abort = () => reject(signal?.reason as Error);
          signal?.addEventListener('abort', abort, { once: true });
        }),
      ]);
    } finally {
      // What is found after an abort is thrown away, an error too.
      found.catch(() => undefined);
      signal?.removeEventListener('abort', abort);
    }
  }

  private lookUp(url: URL, owner: string, options: LookupOptions & { all: true }): Promise<LookupAddress[]> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new EgressError(`${url.hostname} is not found in time.`));
      const timer = setTimeout(late, this.lookupMs);
      this.resolver(
        url.hostname,
        options,
        (error, found) => {
          clearTimeout(timer);
          if (error !== null) reject(error);
          else if (found.length === 0 || found.some(({ address }) => !this.allows(address, url))) reject(blocked(url));
          else resolve(found);
        },
        owner,
      );
    });
  }

  /** What is sent in the clear goes to networks that the operator has named, and nowhere else. */
  private allows(address: string, { protocol }: URL): boolean {
    return protocol === 'https:' ? this.networks.allows(address) : this.networks.lists(address);
  }
}

/** The host of a URL when it is written as an address, in the one form that the URL parser gives it; else null. */
function literalOf({ hostname }: URL): string | null {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? null : host;
}

function blocked({ hostname }: URL): EgressError {
  return new EgressError(`${hostname} is not a public address, and lies in no network that the operator allows.`);
}
