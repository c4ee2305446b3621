// Names of a network that is not there, for sandboxes.
import { Egress } from '../../src/platform/egress/egress.js';
import type { Resolver } from '../../src/platform/egress/name-servers.js';

/** Names, and the addresses that they lead to: at the first look-up the first one, then the next, and at last the last one. */
export type Names = Record<string, string[]>;

/** A way out that knows these names alone, and takes this machine's own addresses for allowed ones. */
export function namesOn(names: Names): Egress {
  const asked = new Map<string, number>();
  const resolver: Resolver = (host, _options, done) => {
    const addresses = names[host] ?? [];
    const times = asked.get(host) ?? 0;
    asked.set(host, times + 1);
    const address = addresses[Math.min(times, addresses.length - 1)];
    setImmediate(() => {
      if (address === undefined) done(Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' }), []);
      else done(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
    });
  };
  return new Egress(['127.0.0.0/8'], resolver);
}
