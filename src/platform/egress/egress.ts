// The one way out to addresses that tenants name: a name is resolved once, all that it resolves to is checked, and the connection
// goes to what was checked. A second look-up could be answered otherwise (DNS rebinding).
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { AllowedNetworks } from './networks.js';

/** The address of a URL may not be connected to. The message is for the tenant: it names no address that a name resolved to. */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly code = 'EBLOCKED';
}

/** As of node:dns, with `all`. */
export type Resolver = (
  host: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** How long one look-up may take, in milliseconds. */
const LOOKUP_MS = 5000;
/**
 * The last look-up that this process has begun for a tenant. They go one after another: each blocks a thread of libuv's pool until
 * the system's resolver has answered, half a minute for a name whose servers are dead, and the pool gives two of its four threads to
 * look-ups. The second is for those of the service itself.
 */
let latest: Promise<void> = Promise.resolve();

/** Looks up when all look-ups before are over. `lookUp` does not reject. */
function inTurn(lookUp: () => Promise<void>): void {
  latest = latest.then(lookUp);
}

/** The way out for one use, such as webhooks or repositories, with the networks that the operator allows for it. */
export class Egress {
  private readonly networks: AllowedNetworks;

  /**
   * @param cidrs networks that are allowed although they are not public.
   * @param resolver the system's; a test has its own, and its own patience.
   * @param turns `false` for a resolver that blocks no thread, and so needs no turn.
   */
  constructor(
    cidrs: readonly string[],
    private readonly resolver: Resolver = systemLookup,
    private readonly lookupMs = LOOKUP_MS,
    private readonly turns = true,
  ) {
    this.networks = new AllowedNetworks(cidrs);
  }

  /** Whether the host is written as an address that is not allowed. Of a name only {@link addresses} can tell. */
  refuses(url: URL): boolean {
    const literal = literalOf(url);
    return literal !== null && !this.allows(literal, url);
  }

  /**
   * The addresses of the host, all of them checked, to connect to in this order. Rejects with {@link EgressError} when one of them
   * is not allowed or it takes too long, with the error of node:dns when there are none, and with the reason of the signal.
   */
  async addresses(url: URL, signal?: AbortSignal): Promise<string[]> {
    const literal = literalOf(url);
    if (literal !== null && !this.allows(literal, url)) throw blocked(url);
    if (literal !== null) return [literal];
    return (await this.resolved(url, { all: true, verbatim: true }, signal)).map(({ address }) => address);
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
  ): ClientRequest {
    // Node asks no look-up for an address.
    if (this.refuses(url)) throw blocked(url);
    const lookup: LookupFunction = (_host, how, done) => {
      this.resolved(url, { ...how, all: true }, options.signal).then(
        (found) => (how.all === true ? done(null, found) : done(null, found[0]?.address ?? '', found[0]?.family)),
        (error: Error) => done(error, []),
      );
    };
    const begin = url.protocol === 'https:' ? httpsRequest : httpRequest;
    return begin(url, { ...options, agent: false, lookup });
  }

  private async resolved(
    url: URL,
    options: LookupOptions & { all: true },
    signal?: AbortSignal,
  ): Promise<LookupAddress[]> {
    signal?.throwIfAborted();
    let abort = () => undefined as void;
    try {
      return await new Promise((resolve, reject) => {
        abort = () => reject(signal?.reason as Error);
        signal?.addEventListener('abort', abort, { once: true });
        const look = async () => {
          if (signal?.aborted === true) return;
          const timer = setTimeout(
            () => reject(new EgressError(`${url.hostname} is not found in time.`)),
            this.lookupMs,
          );
          await this.lookUp(url, options).then(resolve, reject);
          clearTimeout(timer);
        };
        if (this.turns) inTurn(look);
        else void look();
      });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Settles when the resolver has answered, and not before. */
  private lookUp(url: URL, options: LookupOptions & { all: true }): Promise<LookupAddress[]> {
    return new Promise((resolve, reject) => {
      this.resolver(url.hostname, options, (error, found) => {
        if (error !== null) reject(error);
        else if (found.length === 0 || found.some(({ address }) => !this.allows(address, url))) reject(blocked(url));
        else resolve(found);
      });
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
