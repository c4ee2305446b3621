import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { bytesOf, type SnapshotFile } from './manifest-reader.js';
import { compress } from './zstd.mjs';

const FRAME = 1000;

describe('The bytes of a file in a snapshot (reference §22)', () => {
  /** Two frames of an object, each of a hundred parts of ten bytes with a hole of ten before each. */
  async function sparse() {
    const frames = await Promise.all([1, 2].map((byte) => compress(Buffer.alloc(FRAME, byte))));
    const offsets = [0, frames[0]?.length ?? 0];
    const parts = Array.from({ length: 200 }, (_, at): SnapshotFile['parts'][number] => {
      const nth = Math.floor(at / 100);
      return [20 * at + 10, 'object', offsets[nth] ?? 0, frames[nth]?.length ?? 0, 10 * (at % 100), 10];
    });
    const object = Buffer.concat(frames);
    const reads: number[] = [];
    const read = (_: string, offset: number, length: number) => {
      reads.push(offset);
      return Promise.resolve(object.subarray(offset, offset + length));
    };
    const file = { name: 'sparse', size: 4010, mtime: '0.0', sha256: '', parts };
    const whole = Buffer.alloc(file.size);
    for (const [position, , offset, , , bytes] of parts) whole.fill(offset === 0 ? 1 : 2, position, position + bytes);
    const bytes = (start: number, end: number) => buffer(Readable.from(bytesOf(file, { start, end }, read)));
    return { whole, bytes, reads, offsets };
  }

  it('come from frames that are read once each, however many parts lie in them', async () => {
    const { whole, bytes, reads, offsets } = await sparse();
    expect((await bytes(0, whole.length - 1)).equals(whole)).toBe(true);
    expect(reads).toEqual(offsets);
  });

  it('of a range are those of the frames that it touches', async () => {
    const { whole, bytes, reads, offsets } = await sparse();
    expect((await bytes(2_015, 3_333)).equals(whole.subarray(2_015, 3_334))).toBe(true);
    expect(reads).toEqual(offsets.slice(1));
  });
});
