import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ByteRange } from '../storage-driver.js';
import { reading } from './s3-reading.js';

const OBJECT = 'one two three';

/** A connection that breaks behind so many bytes of a range. */
function breaking({ start, end }: ByteRange, behind: number): Readable {
  return Readable.from(
    (async function* () {
      yield Buffer.from(OBJECT.slice(start, Math.min(end + 1, start + behind)));
      await Promise.resolve();
      throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
    })(),
  );
}

describe('A download from a bucket whose connection breaks', () => {
  const asked: ByteRange[] = [];
  // S3 answers a range without a byte with the whole object.
  const again = (range: ByteRange) => {
    asked.push(range);
    return Promise.resolve(Readable.from([Buffer.from(OBJECT.slice(range.start > range.end ? 0 : range.start))]));
  };
  beforeEach(() => asked.splice(0));

  it('goes on behind the byte that came last', async () => {
    const range = { start: 4, end: 12 };
    expect(await text(reading(breaking(range, 3), { ...range, sha256: null }, again))).toBe('two three');
    expect(asked).toEqual([{ start: 7, end: 12 }]);
  });

  it.each([
    ['a range', { start: 4, end: 6 }, 'two', null],
    ['a file', { start: 0, end: 12 }, OBJECT, createHash('sha256').update(OBJECT).digest('hex')],
  ])('behind the last byte of %s asks for nothing more', async (_, range, whole, sha256) => {
    expect(await text(reading(breaking(range, 99), { ...range, sha256 }, again))).toBe(whole);
    expect(asked).toEqual([]);
  });
});
