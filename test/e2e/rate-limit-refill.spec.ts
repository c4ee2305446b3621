import { bootApp, useService } from '../harness/app.js';
import { type Answer, type Client, makeMember } from '../harness/client.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

const PATH = '/v1/auth/context';
/** One more each second: slow enough to be used up by requests one after another. */
const RATE = { capacity: 10, windowSeconds: 10 };
const much = { capacity: 1_000_000, windowSeconds: 1 };

const number = (answer: Answer<unknown>, name: string) => Number(answer.headers.get(name));

describe.each([
  ['the policy', 'x-ratelimit', { global: much, policies: { metadata_read: RATE, resource_read: much } }],
  ['the global', 'x-ratelimit-global', { global: RATE, policies: { metadata_read: much, resource_read: much } }],
])('Refilling, %s bucket (reference §9)', (_which, prefix, plan) => {
  const service = useService(() => bootApp({ config: { rateLimits: { free: plan, paid: plan } } }));

  const usedUp = async (): Promise<{ client: Client; refused: Answer }> => {
    const { client } = await makeMember(service);
    const refused = await until('a refusal', async () => {
      const answer = await client.get(PATH);
      return answer.status === 429 ? answer : null;
    });
    return { client, refused };
  };

  it('Retry-After is the number of seconds until both buckets accept another request', async () => {
    const { client, refused } = await usedUp();
    const begun = performance.now();
    const seconds = number(refused, 'retry-after');
    expect(seconds).toBe(1);
    await until('the seconds to pass', () => performance.now() - begun >= seconds * 1000);
    expect((await client.get(PATH)).status).toBe(200);
  });

  slowIt('buckets refill continuously: the remaining quota rises before the reset', async () => {
    const { client, refused } = await usedUp();
    const reset = number(refused, `${prefix}-reset`);
    expect(number(refused, `${prefix}-remaining`)).toBe(0);
    // Asked every two seconds: two have come, one is granted and one is left.
    const asked = async () => {
      const answer = await client.get(PATH);
      return number(answer, `${prefix}-remaining`) > 0 ? answer : null;
    };
    const later = await until('more than one to be there', asked, { every: 2_100 });
    expect(later.status).toBe(200);
    expect(Date.now() / 1000).toBeLessThan(reset);
  });
});
