// Hosts of a network that is not there: servers for HTTP and HTTPS on this machine, and the names that lead to them.
import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Resolver } from '../../src/platform/egress/name-servers.js';

/** Signs the certificate of these hosts, from 2020 to 2120. Nobody trusts it but these tests. */
const AUTHORITY = `-----BEGIN CERTIFICATE-----
MIIBeDCCAR+gAwIBAgIBATAKBggqhkjOPQQDAjAjMSEwHwYDVQQDDBhBdXRob3Jp
dHkgb2YgdGhlc2UgdGVzdHMwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAw
MDBaMCMxITAfBgNVBAMMGEF1dGhvcml0eSBvZiB0aGVzZSB0ZXN0czBZMBMGByqG
SM49AgEGCCqGSM49AwEHA0IABJRo8jojjleZHfVFr+fBsvvhnIyjK3GIZWKcGyss
jhzmDmyhXQgROeYbPAdZOPiSGOTFY/yrJJoqGTYqcP7idQ+jQjBAMA8GA1UdEwEB
/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMB0GA1UdDgQWBBQkW9pOmFuZpliWAh/x
cW0Bsh1sVzAKBggqhkjOPQQDAgNHADBEAiByUGw7n5uox44umQRq+D2NliLJ08Da
q6vseUave5U76gIgB1W8Z+FSwMHcTgR776O2pmlk+LkwkFiTw+W4vuZsVKg=
-----END CERTIFICATE-----
`;
/** Of `allowed.test`, of names below `wild.test` and of 127.0.0.2. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBzTCCAXSgAwIBAgIBAjAKBggqhkjOPQQDAjAjMSEwHwYDVQQDDBhBdXRob3Jp
dHkgb2YgdGhlc2UgdGVzdHMwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAw
MDBaMBcxFTATBgNVBAMMDGFsbG93ZWQudGVzdDBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABFkyv23C2QAGLW3GPp3tPip2q7f2U/9sP7qGADUrNTRfZ5zj+oHOcBgG
wEtxdyGD6aLktTaNVc2NBLoMSjaNYPyjgaIwgZ8wDAYDVR0TAQH/BAIwADAOBgNV
HQ8BAf8EBAMCB4AwEwYDVR0lBAwwCgYIKwYBBQUHAwEwHQYDVR0OBBYEFIP/vzw6
Qkb9EfSUkXy3RbOzMAd2MB8GA1UdIwQYMBaAFCRb2k6YW5mmWJYCH/FxbQGyHWxX
MCoGA1UdEQQjMCGCDGFsbG93ZWQudGVzdIILKi53aWxkLnRlc3SHBH8AAAIwCgYI
KoZIzj0EAwIDRwAwRAIgUB76rD+PcnIocDPUtEHqOsK1X3M9vui6EdMAlYBG934C
IGsPb582HI+e1wyvD3H1Adrfl9rts13ulCNYSpQbEgBY
-----END CERTIFICATE-----
`;
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5W97pWjh4OgCWv0q
i3Lgxp+phK+SjWmGVoQsyMy/cT2hRANCAARZMr9twtkABi1txj6d7T4qdqu39lP/
bD+6hgA1KzU0X2ec4/qBznAYBsBLcXchg+mi5LU2jVXNjQS6DEo2jWD8
-----END PRIVATE KEY-----
`;

/** A file with the authority that these hosts are known by, which every user may read. */
export class AuthorityFile {
  private readonly folder = mkdtempSync(join(tmpdir(), 'millwright-ca-'));
  readonly path = join(this.folder, 'ca.pem');

  constructor() {
    chmodSync(this.folder, 0o755);
    writeFileSync(this.path, AUTHORITY, { mode: 0o644 });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** Answers a request; false: there is no such page. */
type Pages = (request: IncomingMessage, response: ServerResponse) => boolean;

/** One server for HTTP and one for HTTPS. By itself each says who was asked for what, and takes what is posted. */
export class WebHosts {
  readonly requests: { host: string; url: string; headers: IncomingMessage['headers'] }[] = [];
  private constructor(
    private readonly servers: Server[],
    private readonly pages: Pages,
  ) {}

  static async start(pages: Pages = () => false, address = '127.0.0.1'): Promise<WebHosts> {
    const answer = (request: IncomingMessage, response: ServerResponse) => void hosts.answer(request, response);
    const servers = [createHttp(answer), createHttps({ cert: CERTIFICATE, key: KEY }, answer)];
    const hosts = new WebHosts(servers, pages);
    for (const server of servers) await once(server.listen(0, address), 'listening');
    return hosts;
  }

  /** What becomes another protocol. */
  onUpgrade(take: (request: IncomingMessage, socket: Duplex) => void): void {
    for (const server of this.servers) server.on('upgrade', take);
  }

  get http(): number {
    return portOf(this.servers[0]);
  }

  get https(): number {
    return portOf(this.servers[1]);
  }

  async stop(): Promise<void> {
    for (const server of this.servers) {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, url = '' } = request;
    this.requests.push({ host: headers.host ?? '', url, headers });
    if (this.pages(request, response)) return;
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) bytes += chunk.length;
    response.end(`${request.method} ${headers.host} ${url} ${bytes}\n`);
  }
}

/** Names and their addresses; it knows no other, and notes what it was asked for. */
export function resolverOf(names: Record<string, string[]>): { resolver: Resolver; asked: string[] } {
  const asked: string[] = [];
  const resolver: Resolver = (host, _options, done) => {
    asked.push(host);
    const found = names[host];
    setImmediate(() => {
      if (found === undefined) done(Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' }), []);
      else done(null, found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))); // prettier-ignore
    });
  };
  return { resolver, asked };
}

function portOf(server: Server | undefined): number {
  return (server?.address() as AddressInfo).port;
}

/** What a registry at this host says of its package `pad`. */
export function packument(host: string) {
  const dist = { tarball: `http://${host}/pad.tgz`, shasum: '0'.repeat(40) };
  return {
    name: 'pad',
    'dist-tags': { latest: '1.2.3' },
    versions: { '1.2.3': { name: 'pad', version: '1.2.3', dist } },
  };
}
