import { bucketOf } from './gcra.js';
import { rateLimitHeaders } from './rate-limit-headers.js';

const SECOND = 1_000_000;
const NOW = 1_800_000_000 * SECOND;

const bucket = (name: string, capacity: number, windowSeconds = 60) => bucketOf(name, { capacity, windowSeconds });
const [read, global] = [bucket('resource_read', 1200), bucket('global', 1200)];
const charge = (buckets: ReturnType<typeof bucket>[], backlogs: number[], allowed = true) =>
  rateLimitHeaders({ buckets, backlogs, allowed, now: NOW });

describe('The headers of a rate limit (reference §9)', () => {
  it('the first request of a key', () => {
    expect(charge([read, global], [50_000, 50_000])).toEqual({
      'X-RateLimit-Policy': 'resource_read',
      'X-RateLimit-Limit': '1200',
      'X-RateLimit-Remaining': '1199',
      'X-RateLimit-Reset': '1800000001',
      'X-RateLimit-Global-Limit': '1200',
      'X-RateLimit-Global-Remaining': '1199',
      'X-RateLimit-Global-Reset': '1800000001',
      'RateLimit-Policy': '"global";q=1200;w=60, "resource_read";q=1200;w=60',
      RateLimit: '"resource_read";r=1199;t=1',
    });
  });

  it('the whole shape of a refusal', () => {
    const write = bucket('task_execution', 10);
    expect(charge([write, bucket('global', 120)], [55 * SECOND, 12_345_678], false)).toEqual({
      'X-RateLimit-Policy': 'task_execution',
      'X-RateLimit-Limit': '10',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '1800000055',
      'X-RateLimit-Global-Limit': '120',
      'X-RateLimit-Global-Remaining': '95',
      'X-RateLimit-Global-Reset': '1800000013',
      'RateLimit-Policy': '"global";q=120;w=60, "task_execution";q=10;w=60',
      RateLimit: '"task_execution";r=0;t=1',
      'Retry-After': '1',
    });
  });

  const ten = bucket('ten', 10);
  const hundred = bucket('global', 100);
  it.each([
    ['the smaller share', [6 * SECOND, 30 * SECOND], '"global";r=50;t=1'],
    ['not the smaller number', [12 * SECOND, 6 * SECOND], '"ten";r=8;t=6'],
    ['on equal shares the longer wait: the operation', [6 * SECOND, 6 * SECOND], '"ten";r=9;t=6'],
    ['on equal shares the longer wait: global', [54 * SECOND + 1, 60 * SECOND], '"global";r=0;t=1'],
    ['on equal shares and waits the operation', [54 * SECOND + 600_000, 60 * SECOND], '"ten";r=0;t=1'],
  ])('RateLimit is %s', (_what, backlogs, value) => {
    expect(charge([ten, hundred], backlogs)).toMatchObject({ RateLimit: value });
  });

  it.each([
    [[60 * SECOND, 60 * SECOND], '6'],
    [[54 * SECOND + 1, 60 * SECOND], '1'],
    [[60 * SECOND, 0], '6'],
    [[0, 60 * SECOND], '1'],
    [[55 * SECOND, 60 * SECOND - 1], '1'],
    [[56 * SECOND + 1, 59 * SECOND], '3'],
  ])('Retry-After after backlogs of %j µs is the longest wait, rounded up: %s s', (backlogs, seconds) => {
    const headers = charge([ten, hundred], backlogs, false);
    expect(headers['Retry-After']).toBe(seconds);
    const [, t] = /;t=(\d+)$/.exec(headers['RateLimit'] ?? '') ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(Number(t));
  });

  it('an address has one bucket and no X-RateLimit headers', () => {
    expect(charge([bucket('address', 300)], [60 * SECOND], false)).toEqual({
      'RateLimit-Policy': '"address";q=300;w=60',
      RateLimit: '"address";r=0;t=1',
      'Retry-After': '1',
    });
  });
});
