import { bootApp, type TestApp } from '../harness/app.js';
import { newKey } from '../../src/access/auth/api-key.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { rawRequest } from '../harness/raw.js';

const FAILURES = 4;
const PATH = '/v1/auth/context';

describe('Requests without a valid credential (reference §9)', () => {
  let service: TestApp;
  let member: Member;
  let anonymous: Client;

  const boot = async (env: Record<string, string>) => {
    service = await bootApp({ env });
    member = await makeMember(service);
    anonymous = new Client(service.url);
  };
  afterEach(() => service.close());

  const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
  const statuses = async (n: number, ask: () => Promise<{ status: number }>) => {
    const seen: number[] = [];
    for (let i = 0; i < n; i++) seen.push((await ask()).status);
    return seen;
  };

  it('so many from one address are 401, of whatever kind, then 429; a valid credential from there still passes', async () => {
    await boot({ AUTH_FAILURES_PER_MINUTE: String(FAILURES) });
    // What is valid, public or not there is not counted.
    for (const path of [PATH, '/health/live', '/developer-api/rate-limits', '/v1/nothing']) {
      for (let n = 0; n < FAILURES; n++) expect((await member.client.get(path)).status).not.toBe(429);
    }
    expect(await statuses(FAILURES, () => anonymous.get('/health/live'))).not.toContain(429);
    expect((await anonymous.get(PATH)).status).toBe(401);
    expect((await anonymous.as('nonsense').get(PATH)).status).toBe(401);
    expect((await anonymous.as(newKey()).get(PATH)).status).toBe(401);
    const doubled = [`GET ${PATH} HTTP/1.1`, `Authorization: Bearer ${member.key.secret}`, 'Authorization: Bearer x'];
    expect((await rawRequest(service.url, doubled)).status).toBe(401);
    for (const secret of [null, 'nonsense', newKey()]) expect((await anonymous.as(secret).get(PATH)).status).toBe(429);
    expect((await member.client.get(PATH)).status).toBe(200);
    expect((await anonymous.get('/health/live')).status).toBe(200);
  });

  it('the refusal names the limit, and nothing of a key', async () => {
    await boot({ AUTH_FAILURES_PER_MINUTE: String(FAILURES) });
    const first = await anonymous.get(PATH);
    expect(first.headers.get('ratelimit')).toBeNull();
    await statuses(FAILURES - 1, () => anonymous.get(PATH));
    const { status, body, headers } = await anonymous.get<ErrorBody>(PATH);
    expect(status).toBe(429);
    expect(body.error).toMatchObject({ type: 'rate_limited', code: 'rate_limit_exceeded', retryable: true });
    expect(headers.get('ratelimit-policy')).toBe('"address";q=4;w=60');
    const seconds = headers.get('retry-after');
    expect(Number(seconds)).toBeGreaterThanOrEqual(1);
    expect(Number(seconds)).toBeLessThanOrEqual(15);
    expect(headers.get('ratelimit')).toBe(`"address";r=0;t=${seconds}`);
    expect(headers.get('www-authenticate')).toBeNull();
    expect([...headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  });

  it('300 in a minute, unless configured otherwise', async () => {
    await boot({ AUTH_FAILURES_PER_MINUTE: '' });
    const seen: Awaited<ReturnType<typeof anonymous.get>>[] = [];
    const refused = () => seen.find(({ status }) => status === 429);
    // At once and often, because meanwhile it refills: five a second.
    for (let n = 0; n < 20 && refused() === undefined; n++) {
      seen.push(...(await Promise.all(Array.from({ length: 50 }, () => anonymous.get(PATH)))));
    }
    expect(seen.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(300);
    expect(refused()?.headers.get('ratelimit-policy')).toBe('"address";q=300;w=60');
  });

  it('the address is the one of the socket: what a client claims does not count', async () => {
    await boot({ AUTH_FAILURES_PER_MINUTE: String(FAILURES) });
    let n = 0;
    const seen = await statuses(FAILURES + 1, () => anonymous.get(PATH, from(`203.0.113.${n++}`)));
    expect(seen.at(-1)).toBe(429);
  });

  it('behind TRUST_PROXY it is the one that the proxy forwards', async () => {
    await boot({ AUTH_FAILURES_PER_MINUTE: String(FAILURES), TRUST_PROXY: '1' });
    const ask = (address: string) => () => anonymous.get(PATH, from(address));
    expect((await statuses(FAILURES + 1, ask('203.0.113.1'))).at(-1)).toBe(429);
    expect(await statuses(1, ask('203.0.113.2'))).toEqual([401]);
    // Only the last is the proxy's word; before it a client writes what it likes.
    expect(await statuses(1, ask('203.0.113.9, 203.0.113.1'))).toEqual([429]);
    expect((await statuses(FAILURES + 1, ask('2001:db8::1'))).at(-1)).toBe(429);
    expect(await statuses(1, ask('2001:db8::2'))).toEqual([429]);
    expect(await statuses(1, ask('2001:db8:0:1::2'))).toEqual([401]);
  });
});
