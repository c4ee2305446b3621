// Hosts of a network that is not there: servers for HTTP and HTTPS on this machine, and the names that lead to them.
import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Resolver } from '../../src/platform/egress/egress.js';

/** Of `allowed.test` and of names below `wild.test`, signed by itself, from 2020 to 2120. Nobody trusts it but these tests. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxhbGxvd2Vk
LnRlc3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBcxFTATBgNV
BAMMDGFsbG93ZWQudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJIYrDNl
VDAm5gT8myjQ07xH817tQAmU/pjUFqDgDEkdtmf5j2PMQ8R2lRcTB7KF3gaVZcJP
mcbuY8h0OP+aVQejWDBWMCQGA1UdEQQdMBuCDGFsbG93ZWQudGVzdIILKi53aWxk
LnRlc3QwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUwmdApuLOfGAyYOjJuIe8
UocNaXMwCgYIKoZIzj0EAwIDSAAwRQIhAPVQHJWTP8NfN+UBeMPc79LekZEwv90Q
R2Hn1MlbexHzAiBNBeZSP445rdp7GUFkREOUKtD1mf1eNAmkXtp4NOw4Lw==
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1PdjdwGLFchbELU9
E7i9MrRBsDIeP5Gn+W6QIo/3uSuhRANCAASSGKwzZVQwJuYE/Jso0NO8R/Ne7UAJ
lP6Y1Bag4AxJHbZn+Y9jzEPEdpUXEweyhd4GlWXCT5nG7mPIdDj/mlUH
-----END PRIVATE KEY-----
`;

/** Answers a request; false: there is no such page. */
type Pages = (request: IncomingMessage, response: ServerResponse) => boolean;

/** One server for HTTP and one for HTTPS. By itself each says who was asked for what, and takes what is posted. */
export class WebHosts {
  readonly requests: { host: string; url: string; headers: IncomingMessage['headers'] }[] = [];
  private constructor(
    private readonly servers: Server[],
    private readonly pages: Pages,
  ) {}

  static async start(pages: Pages = () => false): Promise<WebHosts> {
    const answer = (request: IncomingMessage, response: ServerResponse) => void hosts.answer(request, response);
    const servers = [createHttp(answer), createHttps({ cert: CERTIFICATE, key: KEY }, answer)];
    const hosts = new WebHosts(servers, pages);
    for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
    return hosts;
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
