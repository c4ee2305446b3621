import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Authority } from './authority.mjs';

const HOSTS = ['api.example.com', `${'a'.repeat(60)}.${'b'.repeat(60)}.test`, '127.0.0.1', '[::1]', '2001:db8::7:0'];

describe('The authority of a session', () => {
  const authority = new Authority('Millwright of a test');

  it('signs what Node takes for the host, and for no other one', async () => {
    const server = createServer(authority.host('api.example.com'), (_request, response) => response.end('there'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const ask = (servername: string, ca: string) =>
      new Promise<string>((resolve) => {
        request({ host: '127.0.0.1', port, servername, ca, agent: false }, (response) => {
          response.once('data', (data: Buffer) => resolve(data.toString()));
        })
          .once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''))
          .end();
      });
    expect(await ask('api.example.com', authority.certificate)).toBe('there');
    expect(await ask('other.example.com', authority.certificate)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(await ask('api.example.com', new Authority('Millwright of a test').certificate)).toMatch(/SELF_SIGNED|UNABLE_TO_VERIFY|SIGNATURE/); // prettier-ignore
    server.close();
  });

  it('is one for seven days, of which no further authority can come', () => {
    const own = new X509Certificate(authority.certificate);
    expect(own.ca).toBe(true);
    expect(own.checkIssued(own)).toBe(true);
    expect((Date.parse(own.validTo) - Date.parse(own.validFrom)) / 86_400_000).toBe(7);
    for (const host of HOSTS) {
      const certificate = new X509Certificate(authority.host(host).cert);
      expect(certificate.ca).toBe(false);
      expect(certificate.verify(own.publicKey)).toBe(true);
      const plain = host.replace(/^\[|\]$/g, '');
      expect(/^[\d.]+$|:/.test(plain) ? certificate.checkIP(plain) : certificate.checkHost(plain)).toBe(plain);
    }
  });

  it('is what OpenSSL takes at its strictest', () => {
    const openssl = ['/usr/bin/openssl', '/usr/local/bin/openssl'].find(existsSync);
    if (openssl === undefined) return;
    const folder = mkdtempSync(join(tmpdir(), 'authority-'));
    writeFileSync(join(folder, 'ca'), authority.certificate);
    for (const host of HOSTS) {
      writeFileSync(join(folder, 'leaf'), authority.host(host).cert);
      const words = [
        'verify',
        '-x509_strict',
        '-purpose',
        'sslserver',
        '-CAfile',
        join(folder, 'ca'),
        join(folder, 'leaf'),
      ];
      expect(execFileSync(openssl, words, { encoding: 'utf8' })).toContain(': OK');
    }
    rmSync(folder, { recursive: true });
  });
});
