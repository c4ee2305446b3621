import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bootWorker, type TestApp } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { until } from '../harness/until.js';
import { ANNOUNCEMENTS } from './announcements.js';

describe('An extension with work in the background (docs/seams.md)', () => {
  const calls: { key: unknown; body: string }[] = [];
  let other: Server;
  let service: TestApp;

  beforeAll(async () => {
    other = createServer((req, res) => {
      let body = '';
      req.on('data', (chunk) => (body += String(chunk)));
      req.on('end', () => {
        calls.push({ key: req.headers['idempotency-key'], body });
        res.writeHead(calls.length === 1 ? 503 : 200).end();
      });
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    service = await bootWorker({ extensions: [ANNOUNCEMENTS], config: { extensions: { announcements: { url } } } });
  });
  afterAll(async () => {
    await service.close();
    other.closeAllConnections();
    other.close();
  });

  it('leaves a job with its answer; the handler is called until it succeeds, with one id', async () => {
    const { client } = await makeMember(service);
    expect((await client.post('/v1/announcements', { text: 'Done.' })).body).toEqual({ accepted: true });
    await until('the second call', () => calls.length === 2);
    expect(calls.map(({ body }) => body)).toEqual(['{"text":"Done."}', '{"text":"Done."}']);
    expect(calls[0]?.key).toBe(calls[1]?.key);
    await until('the job to be gone', async () => (await service.db.query('SELECT 1 FROM jobs')).length === 0);
  });
});
