import { canonicalPath } from '../../platform/http/request.js';
import { fingerprintOf, readIdempotencyKey } from './keyed-request.js';

describe('readIdempotencyKey', () => {
  it.each([
    ['a', 'a'],
    ['"a"', 'a'],
    ['""a""', '"a"'],
    ['"a', '"a'],
    ['"', '"'],
    ['!~', '!~'],
    ['a'.repeat(255), 'a'.repeat(255)],
  ])('%s is the key %s', (line, key) => {
    expect(readIdempotencyKey([line], true)).toBe(key);
  });
  it.each([[['']], [['""']], [['a b']], [['é']], [['a\x7f']], [['a'.repeat(256)]], [['a', 'a']], [['a\nb']]])(
    '%j is none',
    (lines) => {
      for (const required of [true, false]) {
        expect(() => readIdempotencyKey(lines, required)).toThrow('Idempotency-Key header of 1 to 255');
      }
    },
  );
  it('absent: an error where it is needed', () => {
    expect(() => readIdempotencyKey([], true)).toThrow('needs an Idempotency-Key');
    expect(readIdempotencyKey([], false)).toBeUndefined();
  });
});

describe('fingerprintOf', () => {
  const same = (a: unknown, b: unknown) => fingerprintOf(a).equals(fingerprintOf(b));

  it('does not see the order of keys, and sees everything else', () => {
    expect(same({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).toBe(true);
    for (const other of [{ a: '1' }, { a: [1] }, { a: null }, {}, { a: 1, b: null }, { A: 1 }, { a: 2 }, [1]]) {
      expect(same({ a: 1 }, other)).toBe(false);
    }
    expect(same([1, 2], [2, 1])).toBe(false);
  });
});

it('canonicalPath gives one spelling', () => {
  expect(canonicalPath('/v1/tasks/0197ABCD/%6dessages')).toBe('/v1/tasks/0197abcd/messages');
});

it('canonicalPath is always something that PostgreSQL can index, and tells paths apart', () => {
  const odd = ['/v1/tasks/%00/messages', '/v1/tasks/%00%00/messages', `/${'x'.repeat(1000)}`, `/${'x'.repeat(15_000)}`];
  for (const path of odd) expect(canonicalPath(path)).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(odd.map(canonicalPath)).size).toBe(odd.length);
  expect(canonicalPath(`/${'x'.repeat(999)}`)).toBe(`/${'x'.repeat(999)}`);
});
