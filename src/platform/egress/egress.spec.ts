import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { until } from '../../../test/harness/until.js';
import { Egress } from './egress.js';
import type { Resolver } from './name-servers.js';
import { AllowedNetworks, isCidr } from './networks.js';

/** A resolver that knows one name, and counts. */
function knowing(...addresses: string[]) {
  let asked = 0;
  const resolver: Resolver = (_host, _options, done) => {
    asked += 1;
    setImmediate(() =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    );
  };
  return { resolver, asked: () => asked };
}

describe('The addresses that a tenant may name (reference §18)', () => {
  const none = new AllowedNetworks([]);

  it.each([
    ...['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.1', '192.167.1.1'],
    ...['192.0.1.1', '198.17.255.255', '198.20.0.1', '223.255.255.255', '9.255.255.255', '11.0.0.0', '126.1.1.1'],
    ...['2606:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888', '2001:200::1', '3ffe::1'],
    // The IPv4 address inside is public.
    ...['::ffff:8.8.8.8', '::ffff:808:808', '64:ff9b::8.8.8.8', '2002:808:808::1'],
  ])('are public: %s', (address) => {
    expect(none.allows(address)).toBe(true);
  });

  it.each([
    // This host, this network, private networks, shared address space, link-local, cloud metadata.
    ...[
      '127.0.0.1',
      '127.255.255.254',
      '0.0.0.0',
      '0.1.2.3',
      '10.0.0.1',
      '10.255.255.255',
      '172.16.0.1',
      '172.31.255.255',
    ],
    ...['192.168.1.1', '100.64.0.1', '100.127.255.255', '169.254.169.254', '169.254.0.1'],
    // Assignments of protocols, documentation, benchmarks, relays, multicast, reserved, broadcast.
    ...['192.0.0.1', '192.0.0.170', '192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '198.19.255.255'],
    ...['192.88.99.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...[
      '::',
      '::1',
      '::127.0.0.1',
      '::8.8.8.8',
      'fe80::1',
      'fe80::1%eth0',
      '2606:4700::1111%eth0',
      'fec0::1',
      'fc00::1',
    ],
    ...['fd00:ec2::254', 'ff02::1', '100::1', '2001::1', '2001:2::1', '2001:10::1', '2001:20::1', '2001:1ff::1'],
    ...['2001:db8::1', '3fff::1', '5f00::1', '4000::1', '64:ff9b:1::8.8.8.8', '64:ff9b::1:808:808'],
    // The IPv4 address inside is not public.
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:a00:1', '::FFFF:169.254.169.254'],
    ...['64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:c0a8:101::1'],
    // No addresses, to this function.
    ...['', 'localhost', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::1]', '1.1.1.1 ', '1.1.1'],
  ])('are not: %s', (address) => {
    expect(none.allows(address)).toBe(false);
  });

  it.each([
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '11.1.2.3', true],
    ['10.0.0.0/8', '192.168.0.1', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '64:ff9b::a01:203', true],
    ['127.0.0.1/32', '127.0.0.1', true],
    ['127.0.0.1/32', '127.0.0.2', false],
    ['127.0.0.1/32', '::1', false],
    ['::1/128', '::1', true],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::/8', 'fc12::1', false],
    ['0.0.0.0/0', '127.0.0.1', true],
    ['0.0.0.0/0', '::1', false],
  ])('with %s: %s is allowed: %s', (cidr, address, allowed) => {
    expect(new AllowedNetworks([cidr]).allows(address)).toBe(allowed);
  });

  it('a network is an address and the length of its prefix', () => {
    expect(['10.0.0.0/8', '1.2.3.4/32', 'fd00::/8', '::/0', '::1/128'].filter((one) => !isCidr(one))).toEqual([]);
    const wrong = [
      '10.0.0.0',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10/8',
      'fd00::/129',
      'a/8',
      '10.0.0.0/8/8',
      '',
      '10.0.0.0/-1',
    ];
    expect(wrong.filter(isCidr)).toEqual([]);
  });
});

describe('The way out to an address that a tenant named (reference §18)', () => {
  const hits: string[] = [];
  let server: Server;
  let port: number;
  beforeAll(async () => {
    server = createServer((request, response) => {
      hits.push(request.url ?? '');
      if (request.url === '/moved') response.writeHead(302, { location: '/there' });
      response.end('here');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  });
  beforeEach(() => hits.splice(0));

  /** The status of an answer, or the code of the error. */
  const get = async (egress: Egress, url: string) => {
    try {
      const request = egress.request(new URL(url), { method: 'GET' });
      request.end();
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
  };

  it.each([
    ...[
      '127.0.0.1',
      'localhost',
      '127.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
    ],
    ...['[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[::]', '①②⑦.⓪.⓪.①'],
  ])('does not lead to this host as %s', async (host) => {
    for (const scheme of ['http', 'https'])
      expect(await get(new Egress([]), `${scheme}://${host}:${port}/`)).toBe('EBLOCKED');
    expect(hits).toEqual([]);
  });

  it('leads to a network that the operator allows, and follows no redirect', async () => {
    const egress = new Egress(['127.0.0.1/32']);
    expect(await get(egress, `http://127.0.0.1:${port}/moved`)).toBe(302);
    expect(hits).toEqual(['/moved']);
  });

  it('resolves a name once, and connects to what was checked', async () => {
    const { resolver, asked } = knowing('127.0.0.1');
    const egress = new Egress(['127.0.0.0/8'], resolver);
    expect(await get(egress, `http://any.example:${port}/`)).toBe(200);
    expect([hits, asked()]).toEqual([['/'], 1]);
    expect(await egress.addresses(new URL('https://any.example'))).toEqual(['127.0.0.1']);
  });

  it.each([[['10.0.0.1']], [['8.8.8.8', '10.0.0.1']], [['::ffff:10.0.0.1', '8.8.8.8']], [[]]])(
    'a name that resolves to %j leads nowhere',
    async (addresses) => {
      const egress = new Egress([], knowing(...addresses).resolver);
      await expect(egress.addresses(new URL('https://any.example'))).rejects.toThrow(
        'any.example is not a public address',
      );
      expect(await get(egress, 'https://any.example/')).toBe('EBLOCKED');
    },
  );

  it('sends nothing in the clear but to a network that the operator allows', async () => {
    const { resolver } = knowing('8.8.8.8');
    expect(await get(new Egress([], resolver), 'http://any.example/')).toBe('EBLOCKED');
    expect(new Egress([]).refuses(new URL('http://8.8.8.8/'))).toBe(true);
    expect(new Egress([]).refuses(new URL('https://8.8.8.8/'))).toBe(false);
    expect(new Egress(['8.8.8.8/32']).refuses(new URL('http://8.8.8.8/'))).toBe(false);
  });

  describe('with names whose servers do not answer', () => {
    /** A resolver that answers when it is told to. */
    const silent = () => {
      const asked: string[] = [];
      const answers: (() => void)[] = [];
      const resolver: Resolver = (host, _options, done) => {
        asked.push(host);
        answers.push(() => done(null, [{ address: '8.8.8.8', family: 4 }]));
      };
      return { resolver, asked, answer: () => answers.shift()?.() };
    };
    const url = (name: string) => new URL(`https://${name}.example/`);
    const never = new AbortController().signal;
    const asks = (asked: string[], many: number) =>
      until('the resolver to be asked', () => asked.length >= many || null);

    it('looks four names of a workspace up at a time, for all uses together, and those of another one at once', async () => {
      const { resolver, asked, answer } = silent();
      const [one, other] = [new Egress([], resolver), new Egress([], resolver)];
      const names = Array.from({ length: 40 }, (_, n) => `dead${n}`);
      const found = Promise.all(names.map((name, n) => (n % 2 === 0 ? one : other).addresses(url(name), 'a')));
      await asks(asked, 4);
      const another = one.addresses(url('good'), 'b');
      await asks(asked, 5);
      expect(asked).toEqual([...names.slice(0, 4).map((name) => `${name}.example`), 'good.example']);
      for (let n = 0; n < 41; n++) {
        await asks(asked, Math.min(n + 1, 41));
        answer();
      }
      expect(await another).toEqual(['8.8.8.8']);
      expect(await found).toHaveLength(40);
    });

    it('gives a name up after a time, and its turn goes to the next one', async () => {
      const { resolver, asked, answer } = silent();
      const late = Array.from({ length: 4 }, (_, n) => new Egress([], resolver, 1).addresses(url(`late${n}`), 'a'));
      const next = new Egress([], resolver).addresses(url('next'), 'a');
      for (const one of late) await expect(one).rejects.toThrow('is not found in time');
      await asks(asked, 5);
      for (let n = 0; n < 5; n++) answer();
      expect(await next).toEqual(['8.8.8.8']);
    });

    it('ends with the signal, while it is looked up and while it waits', async () => {
      const { resolver, asked, answer } = silent();
      const egress = new Egress([], resolver);
      const stop = new AbortController();
      const names = ['one', 'two', 'three', 'four', 'waits'];
      const all = names.map((name) => egress.addresses(url(name), 'a', stop.signal));
      await asks(asked, 4);
      stop.abort(new Error('Cancelled.'));
      for (const one of all) await expect(one).rejects.toThrow('Cancelled.');
      const next = egress.addresses(url('next'), 'a', never);
      answer();
      await asks(asked, 5);
      for (let n = 0; n < 4; n++) answer();
      await next;
      expect(asked).not.toContain('waits.example');
    });
  });
});
