import { once } from 'node:events';
import { connect } from 'node:net';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember } from '../harness/client.js';
import { until } from '../harness/until.js';
import { done, makeNotes, NotesModule } from './notes.module.js';

const LONG = 'x'.repeat(20_000);

describe('What is no HTTP request (reference §1)', () => {
  const service = useService(() => bootApp({ imports: [NotesModule] }));
  beforeAll(() => makeNotes(service.db));

  /** Everything that the service says to these bytes until it closes the connection. */
  const say = (bytes: string) =>
    new Promise<string>((resolve, reject) => {
      let said = '';
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => socket.write(bytes));
      socket.on('data', (chunk) => (said += String(chunk)));
      socket.on('error', reject);
      socket.on('close', () => resolve(said));
    });

  it.each([
    ['a garbage request line', 'NONSENSE\r\n\r\n', 400, 'invalid_body'],
    ['an unknown method', 'FOO /v1/tasks HTTP/1.1\r\nHost: x\r\n\r\n', 501, 'method_not_allowed'],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n', 501, 'method_not_allowed'],
    ['a header without end', `GET /v1/tasks HTTP/1.1\r\nHost: x\r\nX: ${LONG}\r\n\r\n`, 431, 'header_too_large'],
    ['a path without end', `GET /v1/tasks?q=${LONG} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'header_too_large'],
  ])('%s is answered in the shape of every error, with an id', async (_what, bytes, status, code) => {
    const [head = '', body = ''] = (await say(bytes)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const { error } = JSON.parse(body) as ErrorBody;
    expect(error).toMatchObject({ type: 'invalid_request', code, param: null, retryable: false });
    if (status === 431) expect(error.message).toContain('16 KiB');
    expect(head).toContain(`X-Request-Id: ${error.requestId}`);
  });

  it.each([
    ['without a host', ''],
    ['with two hosts', 'Host: x\r\nHost: y\r\n'],
    ['with a host of two words', 'Host: x y\r\n'],
    ['with a host and a path', 'Host: x/y\r\n'],
    ['with a user before its host', 'Host: a@x\r\n'],
    ['with a port that is no number', 'Host: x:http\r\n'],
    ['with a port beyond 65535', 'Host: x:65536\r\n'],
    ['with an open bracket', 'Host: [::1\r\n'],
  ])('a request %s is answered in that shape too', async (_what, hosts) => {
    const [head = '', body = ''] = (await say(`GET /v1/tasks HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`)).split(
      '\r\n\r\n',
    );
    expect(head).toMatch(/^HTTP\/1.1 400 /);
    const { error } = JSON.parse(body) as ErrorBody;
    expect(error).toMatchObject({ type: 'invalid_request', code: 'invalid_body', param: null });
    expect(head).toContain(`X-Request-Id: ${error.requestId}`);
  });

  it('what cannot be read behind a request has no unknown method', async () => {
    const said = await say(
      'GET /v1/tasks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n0\r\nA: 1\r\n\r\n',
    );
    expect([...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status).at(-1)).toBe('400');
  });

  it('a body that ends early is the fault of the client: 400, and nothing is logged as a fault of ours', async () => {
    const { key } = await makeMember(service);
    const faults: unknown[] = [];
    const quiet = () => undefined;
    service.app.useLogger({ log: quiet, warn: quiet, error: (fault: unknown) => faults.push(fault) });
    const head = `POST /v1/notes/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key.secret}\r\n`;
    const { port } = new URL(service.url);
    for (const leave of ['end', 'resetAndDestroy'] as const) {
      let said = '';
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(`${head}Content-Length: 9\r\n\r\nabc`));
      socket.on('data', (chunk) => (said += String(chunk)));
      const gone = once(socket, 'close');
      await until('the route reads the body', () => done.reading === 3);
      socket[leave]();
      await gone;
      await until('the route is left', () => done.reading === 0);
      // What the route threw is dealt with in the same turn of the event loop: before another request is answered.
      await fetch(`${service.url}/health/live`);
      if (leave === 'end') expect(said).toMatch(/^HTTP\/1.1 400 .*The request ended early\./s);
    }
    expect(faults).toEqual([]);
  });

  it.each(['x', 'x:80', 'x:', '', '127.0.0.1:3000', '[::1]:3000', 'a_b.example', 'b%C3%BCcher.example'])(
    'the host %j is one',
    async (host) => {
      const said = await say(`GET /v1/tasks HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(said).toMatch(/^HTTP\/1.1 401 /);
    },
  );

  it('HTTP 1.0 needs no host', async () => {
    expect(await say('GET /v1/tasks HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 401 /);
  });

  it('an expectation that nobody knows is ignored', async () => {
    const said = await say('GET /v1/tasks HTTP/1.1\r\nHost: x\r\nExpect: nonsense\r\nConnection: close\r\n\r\n');
    expect(said).toMatch(/^HTTP\/1.1 401 /);
    const { key } = await makeMember(service);
    const head = `POST /v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key.secret}\r\nExpect: nonsense\r\nConnection: close\r\n`;
    expect(await say(`${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`)).toMatch(
      /^HTTP\/1.1 400 /,
    );
  });
});
