import { secondsOf, waitAfter } from './waits.js';

describe('The wait after a failed attempt (reference §18)', () => {
  const WAITS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

  it('is that of the table, by at most a fifth shorter or longer, and there are nine', () => {
    expect(WAITS.map((_, n) => waitAfter(n + 1, null, 0.5))).toEqual(WAITS);
    expect(WAITS.map((_, n) => waitAfter(n + 1, null, 0))).toEqual(WAITS.map((wait) => wait * 0.8));
    for (const [n, wait] of WAITS.entries()) expect(waitAfter(n + 1, null, 1)).toBeCloseTo(wait * 1.2);
    expect(waitAfter(10, null)).toBeNull();
    expect(waitAfter(10, 60)).toBeNull();
  });

  it('is longer when the endpoint asks for it, up to a day, and never shorter', () => {
    expect(waitAfter(1, 60, 0.5)).toBe(60);
    expect(waitAfter(2, 60, 0.5)).toBe(300);
    expect(waitAfter(1, 1_000_000, 0.5)).toBe(86_400);
    expect(waitAfter(9, 1_000_000, 1)).toBeCloseTo(103_680);
  });

  it.each([
    ['120', 120],
    [' 0 ', 0],
    ['Mon, 23 Nov 2026 09:01:00 GMT', 60],
    ['Mon, 23 Nov 2026 08:00:00 GMT', 0],
    ['-1', null],
    ['1.5', null],
    ['soon', null],
    ['99999999999999', null],
    ['', null],
    [undefined, null],
  ])('by the header %j is %j seconds', (header, seconds) => {
    expect(secondsOf(header, Date.parse('2026-11-23T09:00:00Z'))).toBe(seconds);
  });
});
