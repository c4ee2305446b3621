import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Connections } from '../../src/platform/http/connections.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { attach, makeTask, upload } from '../harness/files.js';
import { until } from '../harness/until.js';
import { makeNotes, NotesModule } from './notes.module.js';

const LIVE = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
const MIB = 1024 * 1024;
const [A, B, C] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];

describe('Connections (reference §16)', () => {
  let service: TestApp;
  let member: Member;
  let clients: Client[] = [];

  const boot = async (env: Record<string, string>) => {
    service = await bootApp({ env, imports: [NotesModule] });
    await makeNotes(service.db);
    member = await makeMember(service);
    // Its own connections of the client that made the member are no part of the sums.
    service.app.getHttpServer().closeAllConnections();
    await until('none to be open', async () => (await figure('connections{state="idle"}')) === 0);
  };
  afterEach(async () => {
    for (const { socket } of clients) socket.destroy();
    clients = [];
    await service.close();
  });

  /** A connection that keeps what it was told. */
  class Client {
    said = '';
    closed = false;
    constructor(readonly socket: Socket) {
      clients.push(this);
      socket.on('data', (chunk) => (this.said += String(chunk)));
      socket.on('error', () => undefined).on('close', () => (this.closed = true));
    }

    /** Sends bytes and waits for something that was said since. */
    async ask(bytes: string, expected = /\r\n\r\n/): Promise<string> {
      this.said = '';
      this.socket.write(bytes);
      await until(`${String(expected)} to be said`, () => expected.test(this.said) || this.closed);
      return this.said;
    }
  }

  const open = async (from: string): Promise<Client> => {
    const socket = connect({ port: Number(new URL(service.url).port), host: '127.0.0.1', localAddress: from });
    const client = new Client(socket);
    await once(socket, 'connect');
    return client;
  };
  const many = (from: string, n: number) => Promise.all(Array.from({ length: n }, () => open(from)));
  /** What a new connection from there is told. */
  const status = async (from: string) => Number((await (await open(from)).ask(LIVE)).split(' ')[1] ?? 0);
  /** A connection with a request whose body does not come; `let go` makes it complete. */
  const held = async (from: string): Promise<Client> => {
    const client = await open(from);
    const head = ['POST /v1/notes/upload HTTP/1.1', 'Host: x', `Authorization: Bearer ${member.key.secret}`];
    const said = await client.ask([...head, 'Content-Length: 3', 'Expect: 100-continue', '', ''].join('\r\n'));
    expect(said).toMatch(/^HTTP\/1.1 100 /);
    return client;
  };
  const hold = (from: string, n: number) => Promise.all(Array.from({ length: n }, () => held(from)));
  const figure = async (name: string) => {
    const text = await service.app.get(Metrics, { strict: false }).registry.metrics();
    const line = text.split('\n').find((one) => one.startsWith(`millwright_${name} `));
    return line === undefined ? null : Number(line.split(' ')[1]);
  };

  it('from one address half are open at most: of those without a request the ones that waited longest make room', async () => {
    await boot({ MAX_CONNECTIONS: '8' });
    const kept: Client[] = [];
    for (let n = 0; n < 12; n++) {
      const client = await open(A);
      // Each has had its answer before the next comes, so their order is known.
      expect(await client.ask(LIVE)).toMatch(/^HTTP\/1.1 200 /);
      kept.push(client);
    }
    await until('the first ones to be closed', () => kept.slice(0, 8).every(({ closed }) => closed));
    expect(kept.slice(8).map(({ closed }) => closed)).toEqual([false, false, false, false]);
    expect(await figure('connections{state="idle"}')).toBe(4);
    for (const from of [B, B, B, B]) expect(await status(from)).toBe(200);
    expect(await figure('connections_closed_total{reason="displaced"}')).toBe(8);
    // The address that is full goes on too, on a connection that was left and on a new one.
    expect(await kept[11]?.ask(LIVE)).toMatch(/^HTTP\/1.1 200 /);
    expect(await status(A)).toBe(200);
  });

  it('hundreds of silent connections from one address leave the service to all others, and to itself', async () => {
    await boot({ MAX_CONNECTIONS: '20' });
    const flood = await many(A, 300);
    expect([await status(B), await status(A)]).toEqual([200, 200]);
    await until('all but ten to be closed', () => flood.filter(({ closed }) => !closed).length <= 10);
  });

  it('where all have a request under way a new one is 503, with an error as all others, and the rest goes on', async () => {
    await boot({ MAX_CONNECTIONS: '8' });
    const [first] = await hold(A, 4);
    const refused = await open(A);
    const [head = '', body = ''] = (await refused.ask(LIVE, /\}$/)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1/);
    expect(head).toMatch(/Connection: close/);
    expect(JSON.parse(body)).toMatchObject({
      error: {
        type: 'internal_error',
        code: 'unavailable',
        retryable: true,
        message: expect.stringMatching(/address/),
      },
    });
    await until('it to be closed', () => refused.closed);
    expect(await figure('connections_closed_total{reason="refused"}')).toBe(1);
    await hold(B, 4);
    expect(await figure('connections{state="active"}')).toBe(8);
    expect(await status(C)).toBe(503);
    // One request ends; its connection is kept alive until somebody needs the place.
    expect(await first?.ask('abc', /\}$/)).toMatch(/^HTTP\/1.1 201 /);
    expect(first?.closed).toBe(false);
    expect(await status(C)).toBe(200);
    await until('it to be closed', () => first?.closed);
  });

  it.each([
    ['an address', A],
    ['a number of proxies', '1'],
  ])('with %s in TRUST_PROXY a proxy may have them all', async (_what, TRUST_PROXY) => {
    await boot({ MAX_CONNECTIONS: '8', TRUST_PROXY });
    await hold(A, 8);
    expect(await status(A)).toBe(503);
  });

  it('an address that TRUST_PROXY does not name has half', async () => {
    await boot({ MAX_CONNECTIONS: '8', TRUST_PROXY: B });
    await hold(A, 4);
    expect([await status(A), await status(B)]).toEqual([503, 200]);
  });

  describe('have an end', () => {
    /** A request for a file of so many bytes. */
    const download = async (bytes: number): Promise<string> => {
      const { id: uploadId } = await upload(service, member, Buffer.alloc(bytes, 'x'));
      const [file] = await attach(service, member, await makeTask(service, member), [uploadId]);
      const lines = [
        `GET /v1/files/${file?.id}/content HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${member.key.secret}`,
      ];
      return [...lines, '', ''].join('\r\n');
    };

    /** Lets so many seconds pass for the service's look at its connections. */
    const sweepUntil = async (client: Client, seconds: number) => {
      const connections = service.app.get(Connections, { strict: false });
      let now = performance.now();
      await until('the connection to be closed', () => {
        connections.sweep((now += seconds * 1_000));
        return client.closed;
      });
    };

    it('that send nothing, or only bits of a head', async () => {
      await boot({});
      const server = service.app.getHttpServer();
      expect(server).toMatchObject({ headersTimeout: 10_000, connectionsCheckingInterval: 5_000 });
      Object.assign(server, { headersTimeout: 300, connectionsCheckingInterval: 20 });
      // The server starts its look at them when it listens.
      server.emit('listening');
      const silent = await open(A);
      const dripping = await open(A);
      dripping.socket.write('GET /health/live HTTP/1.1\r\n');
      const drip = setInterval(() => dripping.socket.write('X: y\r\n'), 20);
      await until('both to be closed', () => silent.closed && dripping.closed);
      clearInterval(drip);
      for (const { said } of [silent, dripping]) expect(said).toMatch(/^HTTP\/1.1 408 .*"code":"invalid_body"/s);
    });

    it('with an answer that is not read', async () => {
      await boot({});
      const request = await download(32 * MIB);
      const client = await open(A);
      client.socket.pause();
      client.socket.write(request);
      await until('the answer to be under way', async () => (await figure('connections{state="active"}')) === 1);
      const connections = service.app.get(Connections, { strict: false });
      let now = performance.now();
      await until('the service to let go', async () => {
        connections.sweep((now += 65_000));
        return (await figure('connections_closed_total{reason="unread"}')) === 1;
      });
      expect(await figure('connections{state="active"}')).toBe(0);
    });

    it('but not with one that is read slowly', async () => {
      await boot({});
      const request = await download(32 * MIB);
      const connections = service.app.get(Connections, { strict: false });
      const client = await open(A);
      let now = performance.now();
      let got = 0;
      client.socket.on('data', (chunk) => {
        got += (chunk as Buffer).length;
        client.socket.pause();
        // Every look finds that something was taken since the one before it.
        connections.sweep((now += 20_000));
        setImmediate(() => client.socket.resume());
      });
      client.socket.write(request);
      await until('all to be read', () => got > 32 * MIB || client.closed, { within: 150_000 });
      expect(client.closed).toBe(false);
    });

    it('with a body that goes on behind its refusal', async () => {
      await boot({});
      const client = await open(A);
      const refusal = await client.ask(
        'POST /v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\nabc',
        /\}$/,
      );
      expect(refusal).toMatch(/^HTTP\/1.1 401 /);
      const drip = setInterval(() => client.socket.write('x'), 20);
      await sweepUntil(client, 31);
      clearInterval(drip);
      expect(await figure('connections_closed_total{reason="unsent"}')).toBe(1);
    });

    it('but one that is kept alive has its time, whatever its requests were', async () => {
      await boot({});
      expect(service.app.getHttpServer().keepAliveTimeout).toBe(65_000);
      const client = await open(A);
      await client.ask(LIVE);
      service.app.get(Connections, { strict: false }).sweep(performance.now() + 3_600_000);
      expect(await client.ask(LIVE)).toMatch(/^HTTP\/1.1 200 /);
    });
  });
});
