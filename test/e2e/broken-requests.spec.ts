import { connect } from 'node:net';
import { useService } from '../harness/app.js';
import type { ErrorBody } from '../harness/client.js';

describe('What is no HTTP request (reference §1)', () => {
  const service = useService();

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
    ['a garbage request line', 'NONSENSE\r\n\r\n', 400],
    ['an unknown method', 'FOO /v1/tasks HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['headers without end', `GET /v1/tasks HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('%s is answered in the shape of every error, with an id', async (_what, bytes, status) => {
    const [head = '', body = ''] = (await say(bytes)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const { error } = JSON.parse(body) as ErrorBody;
    expect(error).toMatchObject({ type: 'invalid_request', code: 'invalid_body', param: null, retryable: false });
    expect(head).toContain(`X-Request-Id: ${error.requestId}`);
  });

  it.each([
    ['without a host', ''],
    ['with two hosts', 'Host: x\r\nHost: y\r\n'],
  ])('a request %s is answered in that shape too', async (_what, hosts) => {
    const [head = '', body = ''] = (await say(`GET /v1/tasks HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`)).split(
      '\r\n\r\n',
    );
    expect(head).toMatch(/^HTTP\/1.1 400 /);
    const { error } = JSON.parse(body) as ErrorBody;
    expect(error).toMatchObject({ type: 'invalid_request', code: 'invalid_body', param: null });
    expect(head).toContain(`X-Request-Id: ${error.requestId}`);
  });

  it('HTTP 1.0 needs no host', async () => {
    expect(await say('GET /v1/tasks HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 401 /);
  });

  it('an expectation that nobody knows is ignored', async () => {
    const said = await say('GET /v1/tasks HTTP/1.1\r\nHost: x\r\nExpect: nonsense\r\nConnection: close\r\n\r\n');
    expect(said).toMatch(/^HTTP\/1.1 401 /);
  });
});
