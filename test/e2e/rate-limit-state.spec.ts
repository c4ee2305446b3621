import { bootApp, useService } from '../harness/app.js';
import { type Answer, Client, makeMember } from '../harness/client.js';
/** So slow to refill that what was taken can be counted: one more in 6,000 and in 21,600 seconds. */
const [GLOBAL, POLICY] = [
  { capacity: 8, windowSeconds: 48_000 },
  { capacity: 4, windowSeconds: 86_400 },
];

const number = ({ headers }: Answer<unknown>, name: string) => Number(headers.get(name));

describe('What the headers say of the buckets (reference §9)', () => {
  const service = useService(() => {
    const plan = { global: GLOBAL, policies: { metadata_read: POLICY, resource_write: { ...GLOBAL, capacity: 7 } } };
    return bootApp({ config: { rateLimits: { free: plan, paid: plan } } });
  });
  const defaults = useService(() => bootApp({ config: { rateLimits: {} } }));

  it('X-RateLimit-Reset and -Global-Reset are the Unix times at which each bucket will be full again', async () => {
    const { client } = await makeMember(service);
    const begun = Date.now() / 1000;
    for (let taken = 1; taken <= 4; taken++) {
      const answer = await client.get('/v1/auth/context');
      const passed = Date.now() / 1000 - begun + 2;
      for (const [name, { capacity, windowSeconds }] of [
        ['x-ratelimit', POLICY],
        ['x-ratelimit-global', GLOBAL],
      ] as const) {
        expect([number(answer, `${name}-limit`), number(answer, `${name}-remaining`)]).toEqual([
          capacity,
          capacity - taken,
        ]);
        const seconds = number(answer, `${name}-reset`) - begun - (taken * windowSeconds) / capacity;
        expect(Math.abs(seconds)).toBeLessThan(passed);
      }
    }
  });

  it('RateLimit is the state of the bucket with the smaller share left: the operation’s or the global one', async () => {
    const { client } = await makeMember(service);
    const state = async (method: string, path: string) => (await client.request(method, path)).headers.get('ratelimit');
    // 3 of 4 and 7 of 8 are left; then 6 of 7 and 6 of 8; then 2 of 4 and 5 of 8; then 5 of 7 and 4 of 8.
    expect(await state('GET', '/v1/auth/context')).toMatch(/^"metadata_read";r=3;t=\d+$/);
    expect(await state('DELETE', '/v1/tasks/x')).toMatch(/^"global";r=6;t=\d+$/);
    expect(await state('GET', '/v1/auth/context')).toMatch(/^"metadata_read";r=2;t=\d+$/);
    expect(await state('DELETE', '/v1/tasks/x')).toMatch(/^"global";r=4;t=\d+$/);
  });

  it('Retry-After is the longer of the two waits, and the refusal names the bucket that is empty', async () => {
    const { client } = await makeMember(service);
    for (let n = 0; n < 4; n++) await client.get('/v1/auth/context');
    const refused = await client.get('/v1/auth/context');
    expect(refused.status).toBe(429);
    expect(Math.abs(number(refused, 'retry-after') - 21_600)).toBeLessThan(30);
    for (let n = 0; n < 4; n++) expect((await client.delete('/v1/tasks/x')).status).toBe(404);
    const both = await client.get('/v1/auth/context');
    expect([both.status, number(both, 'x-ratelimit-global-remaining')]).toEqual([429, 0]);
    expect(Math.abs(number(both, 'retry-after') - 21_600)).toBeLessThan(30);
    const other = await client.get('/v1/tasks');
    expect(other.headers.get('ratelimit')).toMatch(/^"global";r=0;t=\d+$/);
    expect(Math.abs(number(other, 'retry-after') - 6_000)).toBeLessThan(30);
  });

  it('the defaults, for 60 seconds: paid workspaces have higher allowances', async () => {
    const of = (...capacities: number[]) => {
      const [global, metadata_read, resource_read, resource_write, task_execution, file_upload] = capacities.map(
        (capacity) => ({ capacity, windowSeconds: 60 }),
      );
      return { global, policies: { metadata_read, resource_read, resource_write, task_execution, file_upload } };
    };
    const { body } = await new Client(defaults.url).get('/developer-api/rate-limits', {
      headers: { Accept: 'application/json' },
    });
    expect(body).toEqual({ free: of(120, 60, 120, 30, 10, 20), paid: of(1200, 300, 1200, 300, 120, 120) });
    const { client } = await makeMember(defaults, { plan: 'free' });
    const { headers } = await client.get('/v1/tasks');
    expect(headers.get('ratelimit-policy')).toBe('"global";q=120;w=60, "resource_read";q=120;w=60');
    expect((await new Client(defaults.url).get('/v1/developer-api/rate-limits')).status).toBe(404);
  });
});
