import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect as connectTo } from 'node:net';
import { text } from 'node:stream/consumers';
import { v7 as uuidv7 } from 'uuid';
import type { Connected } from '../../src/resources/integrations/connections.service.js';
import { HookBodies } from '../../src/resources/integrations/hooks/hook-bodies.js';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember } from '../harness/client.js';
import { automationOn, connect, deliver, entries, github } from '../harness/hooks.js';
import { slowIt } from '../harness/slow.js';
import { until } from '../harness/until.js';

const MIB = 1024 * 1024;

/** JSON of so many bytes. */
function bodyOf(bytes: number): string {
  return `{"text":"${'x'.repeat(bytes - '{"text":""}'.length)}"}`;
}

describe('The bodies of deliveries (reference §13)', () => {
  let connection: Connected;
  // A connection that is to be closed is answered when the rest of the body has had its time.
  const agent = new Agent({ keepAlive: true });

  const service = useService();
  beforeAll(async () => {
    const owner = await makeMember(service);
    connection = await connect(service, owner);
    await automationOn(service, owner, connection.id);
  });
  afterAll(() => agent.destroy());

  const held = () => service.app.get(HookBodies, { strict: false })['bytes'];
  /** A request whose body the test sends piece by piece. */
  const begin = (path: string, headers: Record<string, string | number>): ClientRequest => {
    const { hostname, port } = new URL(service.url);
    const sent = request({ hostname, port, path, method: 'POST', headers, agent });
    // What the service closes on is no failure of the test.
    sent.on('error', () => undefined);
    sent.flushHeaders();
    return sent;
  };
  const answer = async (sent: ClientRequest): Promise<{ status: number; body: ErrorBody; headers: object }> => {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as ErrorBody;
    return { status: response.statusCode ?? 0, body, headers: response.headers };
  };

  it('25 MiB are taken whole, a byte more is 413', async () => {
    const owner = await makeMember(service);
    const { path, secret, id } = await connect(service, owner);
    await automationOn(service, owner, id);
    const most = github(secret, { body: bodyOf(25 * MIB) });
    expect((await deliver(service, path, most)).text).toBe('{"accepted":true}');
    const [entry] = await entries(service, { id });
    expect(entry?.payload?.equals(most.raw)).toBe(true);
    const more = await deliver<ErrorBody>(service, path, github(secret, { body: bodyOf(25 * MIB + 1) }));
    expect([more.status, more.body.error.code]).toEqual([413, 'too_large']);
    expect(more.body.error.message).toContain('25 MiB');
  });

  it('of unknown length it is refused at the first byte that is too many', async () => {
    const sent = begin(connection.path, { 'Transfer-Encoding': 'chunked' });
    sent.write(Buffer.alloc(25 * MIB + 1));
    expect(await answer(sent)).toMatchObject({ status: 413, body: { error: { code: 'too_large' } } });
    sent.destroy();
  });

  it('under an id that is none nothing is read; else the answer waits for the body', async () => {
    const known = begin(`/hooks/${uuidv7()}`, { 'Content-Length': 2 });
    let answered = false;
    known.once('response', () => (answered = true));
    known.write('{');
    const none = begin('/hooks/x', { 'Content-Length': MIB });
    expect(await answer(none)).toMatchObject({ status: 401, body: { error: { code: 'invalid_credential' } } });
    none.destroy();
    expect(answered).toBe(false);
    known.end('}');
    expect(await answer(known)).toMatchObject({ status: 401, body: { error: { code: 'invalid_credential' } } });
  });

  it('one that comes slowly holds up no other, and counts when it is there', async () => {
    const { path, secret } = connection;
    const { headers, raw } = github(secret);
    const slow = begin(path, { ...headers, 'Content-Length': raw.length });
    slow.write(raw.subarray(0, 10));
    await until('its first bytes to be there', () => held() === 10);
    expect((await deliver(service, path, github(secret))).text).toBe('{"accepted":true}');
    slow.end(raw.subarray(10));
    expect(await answer(slow)).toMatchObject({ status: 200, body: { accepted: true } });
    expect(held()).toBe(0);
  });

  it('of a client that goes in the middle nothing is left', async () => {
    const { path, secret, id } = connection;
    const before = (await entries(service, { id })).length;
    const { headers, raw } = github(secret);
    const gone = begin(path, { ...headers, 'Content-Length': raw.length });
    gone.write(raw.subarray(0, 10));
    await until('its first bytes to be there', () => held() === 10);
    gone.destroy();
    await until('them to be forgotten', () => held() === 0);
    expect(await entries(service, { id })).toHaveLength(before);
    expect((await deliver(service, path, { headers, raw })).text).toBe('{"accepted":true}');
  });

  it('beyond 64 MiB in memory the longest that is still coming is 503, and small ones come through', async () => {
    const { path, secret } = connection;
    const sizes = [20, 24, 19].map((size) => size * MIB);
    const slow = sizes.map((size) => {
      const sent = begin(`/hooks/${uuidv7()}`, { 'Content-Length': 25 * MIB });
      sent.write(Buffer.alloc(size));
      return sent;
    });
    await until('63 MiB to be there', () => held() === 63 * MIB);
    const longest = slow[1];
    if (longest === undefined) throw new Error('There are three.');
    const refused = answer(longest);
    expect((await deliver(service, path, github(secret, { body: bodyOf(2 * MIB) }))).text).toBe('{"accepted":true}');
    expect(await refused).toMatchObject({
      status: 503,
      body: { error: { code: 'unavailable', retryable: true } },
      headers: { 'retry-after': '1' },
    });
    expect(held()).toBe(39 * MIB);
    for (const sent of slow) sent.destroy();
    await until('all of it to be forgotten', () => held() === 0);
  });

  it('beyond 64 MiB in memory it is one of the connection that has the most', async () => {
    const many = uuidv7();
    const parts = [many, many, many, uuidv7()].map((id) => {
      const sent = begin(`/hooks/${id}`, { 'Content-Length': 25 * MIB });
      sent.write(Buffer.alloc((id === many ? 15 : 18) * MIB));
      return sent;
    });
    await until('63 MiB to be there', () => held() === 63 * MIB);
    const body = bodyOf(2 * MIB + 1);
    expect((await deliver(service, connection.path, github(connection.secret, { body }))).text).toBe(
      '{"accepted":true}',
    );
    expect(held()).toBe(48 * MIB);
    for (const sent of parts) sent.destroy();
    await until('all of it to be forgotten', () => held() === 0);
  });

  slowIt(
    'while 256 MiB of a connection wait for their runs one more is 503; others are taken',
    async () => {
      const owner = await makeMember(service);
      const { path, secret, id } = await connect(service, owner);
      await automationOn(service, owner, id);
      await service.db.query(
        `INSERT INTO hook_deliveries (id, connection_id, dedupe_key, event, payload)
       SELECT gen_random_uuid(), $1, n::text, 'github.push', convert_to(repeat('x', 32 * 1024 * 1024), 'UTF8')
       FROM generate_series(1, 8) AS n`,
        [id],
      );
      const { status, body } = await deliver<ErrorBody>(service, path, github(secret));
      expect([status, body.error.code, body.error.retryable]).toEqual([503, 'unavailable', true]);
      expect(await entries(service, { id })).toHaveLength(8);
      expect((await deliver(service, connection.path, github(connection.secret))).status).toBe(200);
      await service.db.query('UPDATE hook_deliveries SET payload = NULL WHERE connection_id = $1', [id]);
      expect((await deliver(service, path, github(secret))).text).toBe('{"accepted":true}');
    },
    120_000,
  );

  it('twenty to one connection at once wait for their turn, and none is lost', async () => {
    const { path, secret, id } = connection;
    const before = (await entries(service, { id })).length;
    const deliveries = Array.from({ length: 20 }, () => deliver(service, path, github(secret)));
    expect(new Set((await Promise.all(deliveries)).map(({ text }) => text))).toEqual(new Set(['{"accepted":true}']));
    expect(await entries(service, { id })).toHaveLength(before + 20);
    expect(held()).toBe(0);
  });
});

describe('How many deliveries are taken (reference §13)', () => {
  const LIMIT = 3;
  const service = useService(() => bootApp({ env: { HOOKS_PER_MINUTE: String(LIMIT) } }));
  const connected = async () => connect(service, await makeMember(service));

  it('verified ones are limited for each connection: 429 with its headers', async () => {
    const { path, secret } = await connected();
    for (let i = 0; i < LIMIT; i++) expect((await deliver(service, path, github(secret))).status).toBe(200);
    const { status, body, headers } = await deliver<ErrorBody>(service, path, github(secret));
    expect([status, body.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(headers.get('ratelimit-policy')).toBe(`"hook";q=${LIMIT};w=60`);
    expect(headers.get('ratelimit')).toMatch(/^"hook";r=0;t=\d+$/);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
    const other = await connected();
    expect((await deliver(service, other.path, github(other.secret))).status).toBe(200);
  });

  it('refused ones use up nothing of them, and are 429 in the end; for an id that nothing has as well', async () => {
    const { path, secret } = await connected();
    const told = async (at: string) => {
      const answers = [];
      for (let i = 0; i <= LIMIT; i++) answers.push(await deliver<ErrorBody>(service, at, github('wrong, but long')));
      return answers.map(({ status, body }) => [status, body.error.code, body.error.message.replace(/\d+/g, '')]);
    };
    const known = await told(path);
    expect(known.map(([status]) => status)).toEqual([...new Array<number>(LIMIT).fill(401), 429]);
    expect(await told(`/hooks/${uuidv7()}`)).toEqual(known);
    expect((await deliver(service, path, github(secret))).status).toBe(200);
  });

  it('after them a long one of the same address is 429 before its body is read; a short one is taken', async () => {
    const { path, secret } = await connected();
    for (let i = 0; i < LIMIT; i++) await deliver(service, path, github('wrong, but long'));
    const { hostname, port, host } = new URL(service.url);
    const socket = connectTo(Number(port), hostname);
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: ${host}`,
      'Content-Type: application/json',
      'Content-Length: 5000000',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n{`);
    // The service closes the connection; it has got one byte of the body.
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 429 [^]*"code":"rate_limit_exceeded"/);
    expect((await deliver(service, path, github(secret))).status).toBe(200);
  });
});
