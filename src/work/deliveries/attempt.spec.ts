import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../../../test/harness/until.js';
import { Egress } from '../../platform/egress/egress.js';
import type { Resolver } from '../../platform/egress/name-servers.js';
import { byNameServers } from '../../platform/egress/name-servers.js';
import { attempt } from './attempt.js';

describe('One attempt at a delivery (reference §18)', () => {
  let server: Server;
  let port: number;
  const hits: string[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      hits.push(request.url ?? '');
      request.resume();
      if (request.url === '/never') return;
      if (request.url === '/broken') return void response.destroy();
      if (request.url === '/endless') {
        response.writeHead(200);
        return void response.write('x'.repeat(2000));
      }
      if (request.url === '/moved') response.writeHead(307, { location: `http://127.0.0.1:${port}/there` });
      response.end('secret of this network');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  beforeEach(() => hits.splice(0));

  const here = new Egress(['127.0.0.0/8']);
  const none = new AbortController().signal;
  const send = async (egress: Egress, url: string, answerMs = 20_000, signal = none) =>
    (await attempt(egress, { url: new URL(url), headers: {}, body: '{}' }, signal, answerMs)).attempt;
  const at = (path: string) => `http://127.0.0.1:${port}${path}`;
  const resolving = (...addresses: string[]): Resolver => {
    // A name that is looked up again resolves to something else.
    let asked = 0;
    return (_host, _options, done) => {
      const address = addresses[Math.min(asked, addresses.length - 1)] ?? '';
      asked += 1;
      done(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
    };
  };

  it.each([
    ...[
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '0.0.0.0',
      '①②⑦.⓪.⓪.①',
      '[::1]',
      '[::]',
      'localhost',
    ],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', 'LOCALHOST.', '127.0.0.1.'],
  ])('does not reach this host as %s', async (host) => {
    for (const scheme of ['http', 'https']) {
      const { status, error } = await send(new Egress([], byNameServers, 5000, false), `${scheme}://${host}:${port}/`);
      // Not every system knows a name with a dot at its end.
      expect([status, error]).toEqual([null, expect.stringMatching(/not a public address|name is not known/)]);
    }
    expect(hits).toEqual([]);
  });

  it.each(['10.0.0.1', '127.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00:ec2::254', '64:ff9b::7f00:1'])(
    'does not follow a name to %s, and does not say so',
    async (address) => {
      const { status, error } = await send(new Egress([], resolving(address)), `https://rebound.example:${port}/`);
      expect(status).toBeNull();
      expect(error).toBe('rebound.example is not a public address, and lies in no network that the operator allows.');
    },
  );

  it('goes to the address that was checked, by one look-up', async () => {
    const rebinding = new Egress(['127.0.0.0/8'], resolving('127.0.0.1', '10.0.0.1'));
    expect(await send(rebinding, `http://rebinding.example:${port}/`)).toMatchObject({ status: 200 });
    expect(await send(rebinding, `http://rebinding.example:${port}/`)).toMatchObject({ status: null });
  });

  it('ends at a redirect, and keeps nothing of an answer from an address that is not public', async () => {
    expect(await send(here, at('/moved'))).toMatchObject({ status: 307, error: null, response: null });
    expect(hits).toEqual(['/moved']);
  });

  it('fails without an answer in time, and when the connection breaks', async () => {
    expect(await send(here, at('/never'), 50)).toMatchObject({ status: null, error: 'No answer came within 0.05 s.' });
    expect(await send(here, at('/broken'))).toMatchObject({ status: null, error: expect.stringContaining('closed') });
  });

  it('counts an answer by its head, however long its body takes', async () => {
    expect(await send(here, at('/endless'))).toMatchObject({ status: 200, error: null });
  });

  it('rejects with the reason of its signal', async () => {
    const stop = new AbortController();
    const sent = send(here, at('/never'), 20_000, stop.signal);
    await until('the request', () => hits.includes('/never'));
    stop.abort(new Error('This process stops.'));
    await expect(sent).rejects.toThrow('This process stops.');
  });
});
