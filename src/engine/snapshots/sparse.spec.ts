import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parts } from './sparse.mjs';

const KB = 1024;
const BLOCK = 4 * KB;

describe('The parts of a sparse file', () => {
  let base: string;
  let path: string;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'sparse-'));
    path = join(base, 'file');
  });
  afterEach(() => rmSync(base, { recursive: true }));

  /** A file that has bytes at these blocks alone. */
  function make(blocks: number[], size: number): void {
    const file = openSync(path, 'w');
    for (const at of blocks) writeSync(file, Buffer.alloc(BLOCK, at % 255 || 1), 0, BLOCK, at * BLOCK);
    closeSync(file);
    truncateSync(path, size);
  }
  async function read(most: number, mostParts?: number) {
    const file = openSync(path, 'r');
    const found: { position: number; bytes: Buffer }[] = [];
    for await (const part of parts(file, most, mostParts)) found.push(part);
    closeSync(file);
    return found;
  }
  function put(found: Awaited<ReturnType<typeof read>>, size: number): Buffer {
    const whole = Buffer.alloc(size);
    for (const { position, bytes } of found) bytes.copy(whole, position);
    return whole;
  }
  const places = (found: Awaited<ReturnType<typeof read>>) => found.map(({ position, bytes }) => [position / KB, bytes.length / KB]); // prettier-ignore

  it('are those on the disk, the longer ones in pieces', async () => {
    make([2, 3, 4, 9], 100 * KB);
    expect(places(await read(8 * KB))).toEqual([[8, 8], [16, 4], [36, 4]]); // prettier-ignore
  });

  it('are joined over the narrowest holes when there are too many', async () => {
    // Holes of 1, 3, 1, 20 and 1 blocks, and one at the end.
    make([0, 2, 6, 8, 29, 31], 400 * KB);
    const found = await read(1024 * KB, 3);
    expect(places(found)).toEqual([[0, 12], [24, 12], [116, 12]]); // prettier-ignore
    expect(put(found, 400 * KB).equals(readFileSync(path))).toBe(true);
  });

  it.each([2, 17, 99])('are at most %d also of a thousand with equal holes, and have all bytes', async (most) => {
    make(Array.from({ length: 1000 }, (_, at) => 2 * at + 1), 9000 * KB); // prettier-ignore
    const found = await read(9000 * KB, most);
    expect(found).toHaveLength(most);
    expect(put(found, 9000 * KB).equals(readFileSync(path))).toBe(true);
    expect(put(await read(10 * KB, most), 9000 * KB).equals(readFileSync(path))).toBe(true);
  });
});
