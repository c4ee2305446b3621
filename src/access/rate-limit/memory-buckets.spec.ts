import { bucketOf } from './gcra.js';
import { MemoryBuckets } from './memory-buckets.js';

const SECOND = 1_000_000;
const BUCKETS = [bucketOf('a', { capacity: 2, windowSeconds: 2 }), bucketOf('b', { capacity: 4, windowSeconds: 2 })];

describe('Buckets in memory', () => {
  let now: number;
  const clock = () => now;
  beforeEach(() => (now = 50 * SECOND));

  it('those that are full again are forgotten as others are used', () => {
    const memory = new MemoryBuckets(1000, clock);
    for (let n = 0; n < 100; n++) memory.take(`key${n}`, BUCKETS);
    expect(memory.size).toBe(200);
    now += 3 * SECOND;
    for (let n = 0; n < 100; n++) memory.take('one', BUCKETS);
    expect(memory.size).toBe(2);
  });

  it('there are never more than the bound; the one unused for longest goes first', () => {
    const memory = new MemoryBuckets(10, clock);
    for (let n = 0; n < 100; n++) {
      memory.take('busy', BUCKETS);
      memory.take(`key${n}`, BUCKETS);
      expect(memory.size).toBeLessThanOrEqual(10);
    }
    expect(memory.take('busy', BUCKETS).allowed).toBe(false);
    expect(memory.take('key99', BUCKETS).backlogs).toEqual([2 * SECOND, SECOND]);
    expect(memory.take('key0', BUCKETS).backlogs).toEqual([SECOND, SECOND / 2]);
  });

  it('what Redis decided is gone on from, and what was taken meanwhile is not given back', () => {
    const memory = new MemoryBuckets(10, clock);
    memory.adopt('key', BUCKETS, { allowed: true, backlogs: [SECOND, SECOND] });
    expect(memory.take('key', BUCKETS)).toEqual({ allowed: true, backlogs: [2 * SECOND, 1.5 * SECOND] });
    memory.adopt('key', BUCKETS, { allowed: true, backlogs: [SECOND, 2 * SECOND] });
    expect(memory.take('key', BUCKETS)).toEqual({ allowed: false, backlogs: [2 * SECOND, 2 * SECOND] });
  });

  it('the clock is not the wall clock of the machine', () => {
    const memory = new MemoryBuckets();
    const real = Date.now;
    memory.take('key', BUCKETS);
    memory.take('key', BUCKETS);
    try {
      Date.now = () => real() + 3_600_000;
      expect(memory.take('key', BUCKETS).allowed).toBe(false);
    } finally {
      Date.now = real;
    }
  });
});
