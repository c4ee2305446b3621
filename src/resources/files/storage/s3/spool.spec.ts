import { createHash, randomBytes } from 'node:crypto';
import { chown, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ArrivingBytes } from '../storage-driver.js';
import { clearSpool, PART, type Part, spooled } from './spool.js';

const MIB = 1024 * 1024;

describe('The spool (decision 0094)', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millwright-spool-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('gives the parts of what arrived, each as often as it is read, with its digest', async () => {
    const bytes = randomBytes(PART + 3 * MIB);
    await spooled(folder, arriving(bytes, 5 * MIB), async (parts) => {
      expect(parts.map(({ start, size }) => [start, size])).toEqual([[0, PART], [PART, 3 * MIB]]); // prettier-ignore
      for (const part of [...parts, ...parts]) {
        const read = await contentOf(part);
        expect(read.equals(bytes.subarray(part.start, part.start + part.size))).toBe(true);
        expect(createHash('sha256').update(read).digest('base64')).toBe(part.sha256);
      }
    });
  });

  it('gives one part of nothing, which is no stream', async () => {
    await spooled(folder, arriving(Buffer.alloc(0), 1), (parts) => {
      expect(parts.map((part) => [part.size, part.read()])).toEqual([[0, '']]);
      return Promise.resolve();
    });
  });

  it('has no name while it is used, so a killed process leaves nothing', async () => {
    const names: string[] = [];
    const content = arriving(randomBytes(MIB), 1000, async () => void names.push(...(await readdir(folder))));
    await spooled(folder, content, async () => void names.push(...(await readdir(folder))));
    expect(names).toEqual([]);
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  asRoot('belongs to the owner of the folder that it lies in, also when root makes it', async () => {
    await chown(folder, 10_001, 10_002);
    const spool = join(folder, 'spool');
    await spooled(spool, arriving(randomBytes(1), 1), () => Promise.resolve());
    const { uid, gid, mode } = await stat(spool);
    expect([uid, gid, mode & 0o777]).toEqual([10_001, 10_002, 0o700]);
  });

  it('does not end the process by a part that somebody still reads when it is closed', async () => {
    let left: Part['read'] = () => '';
    await spooled(folder, arriving(randomBytes(MIB), MIB), ([part]) => {
      left = part?.read ?? left;
      return Promise.resolve();
    });
    const stream = left();
    if (stream === '') throw new Error('There was a part.');
    stream.resume();
    await new Promise((resolve) => stream.once('close', resolve));
    expect(stream.errored).toMatchObject({ code: 'EBADF' });
  });

  it('is cleared of what was left in the moment in which a file has a name', async () => {
    for (const name of ['old', 'young']) await writeFile(join(folder, name), '');
    const before = new Date(Date.now() - 61_000);
    await utimes(join(folder, 'old'), before, before);
    await clearSpool(folder);
    expect(await readdir(folder)).toEqual(['young']);
    await clearSpool(join(folder, 'nowhere'));
  });
});

function arriving(bytes: Buffer, piece: number, between?: () => Promise<void>): ArrivingBytes {
  return {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    size: bytes.length,
    async *[Symbol.asyncIterator]() {
      for (let at = 0; at < bytes.length; at += piece) {
        yield bytes.subarray(at, at + piece);
        if (at === 0) await between?.();
      }
    },
  };
}

async function contentOf(part: Part): Promise<Buffer> {
  const stream = part.read();
  return stream === '' ? Buffer.alloc(0) : buffer(stream);
}
