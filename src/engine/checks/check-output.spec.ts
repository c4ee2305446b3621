import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CheckOutput } from './check-output.js';

const LONG = Buffer.alloc(70 * 1024, 'a');

describe('What a check writes (reference §26)', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'check-output-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is a file when it is longer than its end, and that has all of it and no name', async () => {
    const output = new CheckOutput(folder, 1024 * 1024);
    await output.add(LONG);
    await output.add(Buffer.from('b'));
    const { outputBytes, whole } = await output.end();
    expect([outputBytes, whole?.size, await readdir(folder)]).toEqual([LONG.length + 1, LONG.length + 1, []]);
    const read = Buffer.concat(((await whole?.content.toArray()) ?? []) as Buffer[]);
    expect(read.equals(Buffer.concat([LONG, Buffer.from('b')]))).toBe(true);
  });

  it('is no file when a part of it could not be written, also where later ones could be', async () => {
    const disk = join(folder, 'full');
    const output = new CheckOutput(disk, 1024 * 1024);
    await output.add(LONG);
    await mkdir(disk);
    await output.add(Buffer.from('b'));
    const { outputBytes, whole } = await output.end();
    expect([outputBytes, whole === null]).toEqual([LONG.length + 1, true]);
  });

  it('is no file when nobody wants it any more, also while one is being made', async () => {
    const output = new CheckOutput(folder, 1024 * 1024);
    const written = output.add(LONG);
    await output.discard();
    await written;
    const { whole } = await output.end();
    expect(whole === null).toBe(true);
  });
});
