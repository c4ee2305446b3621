import { Readable } from 'node:stream';
import sharp from 'sharp';
import { assistant, call, user } from '../../../test/harness/agent.js';
import { pdf, png } from '../../../test/harness/pictures.js';
import type { ConversationMessage } from '../models/conversation.js';
import { FileCache } from './file-cache.js';
import { readableFile, TaskFiles } from './task-files.js';

const BOTH = { input: ['text' as const, 'image' as const, 'file' as const], bytes: 20_000_000 };
const blank = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: '#246' } });
const show = (bytes: Buffer) => readableFile(Readable.from([bytes]));

describe('What a model is shown of a file (reference §15)', () => {
  it('a picture with at most 1,568 pixels on the longer side, the same bytes each time', async () => {
    const wide = await blank(3_136, 1_000).png().toBuffer();
    const shown = await show(wide);
    expect(shown).toMatchObject({ mediaType: 'image/png', width: 1_568, height: 500, from: { width: 3_136 } });
    expect(await sharp(shown.bytes).metadata()).toMatchObject({ format: 'png', width: 1_568, height: 500 });
    expect((await show(wide)).bytes.equals(shown.bytes)).toBe(true);
    expect(await show(await blank(20, 3_000).jpeg().toBuffer())).toMatchObject({ height: 1_568 });
    expect(await show(await blank(20, 10).webp().toBuffer())).toMatchObject({ width: 20, height: 10 });
  });

  it('upright, the first one of several, and nothing that the file tells beside', async () => {
    const turned = blank(40, 20)
      .jpeg()
      .withExif({ IFD0: { Copyright: 'SECRET PLACE' } })
      .withMetadata({ orientation: 6 });
    const photo = await turned.toBuffer();
    const shown = await show(photo);
    expect(shown).toMatchObject({ mediaType: 'image/jpeg', width: 20, height: 40 });
    expect((await sharp(shown.bytes).metadata()).exif).toBeUndefined();
    const frames = [await blank(8, 8).png().toBuffer(), await blank(8, 8).negate().png().toBuffer()];
    const moving = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
    expect(await show(moving)).toMatchObject({ mediaType: 'image/png', width: 8, height: 8 });
  });

  it('a noisy picture as a JPEG, because a provider takes no more than some megabytes', async () => {
    const noise = sharp({ create: { width: 1_568, height: 1_568, channels: 3, background: '#000', noise: { type: 'gaussian', mean: 128, sigma: 90 } } }); // prettier-ignore
    const shown = await show(await noise.png().toBuffer());
    expect(shown.mediaType).toBe('image/jpeg');
    expect(shown.bytes.length).toBeLessThan(3_500_000);
  });

  it('a PDF as it is', async () => {
    const bytes = pdf('as it is');
    expect(await show(bytes)).toEqual({ mediaType: 'application/pdf', bytes });
  });

  it.each([
    ['has 400 million pixels', png(20_000, 20_000), /has 20000 × 20000 pixels, and at most 50 million/],
    ['ends early', png(20, 20).subarray(0, 50), 'cannot be decoded'],
    ['is a PNG by its first bytes alone', Buffer.from('\x89PNG\r\n\x1a\nhello', 'latin1'), 'cannot be decoded'],
    ['is no picture', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'neither a picture nor a PDF'],
    ['is encrypted', Buffer.from('%PDF-1.4\ntrailer <</Encrypt 5 0 R>>'), 'is encrypted'],
    ['is larger than 20 MB', Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(20_000_000)]), 'more than 20 MB'],
  ])('not one that %s', async (_what, bytes, why) => {
    await expect(show(bytes)).rejects.toThrow(why);
  });

  it('a PDF whose text has the word of the encryption', async () => {
    const pdf = Buffer.from('%PDF-1.4\n(/Encrypt it) /EncryptMetadata true\ntrailer <</Root 1 0 R>>');
    await expect(show(pdf)).resolves.toMatchObject({ mediaType: 'application/pdf' });
  });

  it('of 25 pictures the 20 newest; of the others that newer ones took their place', async () => {
    const picture = await blank(30, 20).png().toBuffer();
    const stored = new Map<string, Buffer>();
    const reads = Array.from({ length: 25 }, (_, n) => {
      stored.set(`sha-${n}`, picture);
      const files = [{ sha256: `sha-${n}`, mediaType: 'image/png', name: `${n}.png`, size: picture.length }];
      return assistant('', call(`r${n}`, 'read', {}, { status: 'success', output: 'A picture.', forModel: { files } }));
    });
    const opened: string[] = [];
    const keptFile = (sha256: string) => {
      opened.push(sha256);
      return Promise.resolve(Readable.from([stored.get(sha256) ?? '']));
    };
    const files = new TaskFiles({ files: [], keptFile }, new FileCache());
    const contents = [...(await files.contents(reads, BOTH))];
    expect(contents.slice(0, 5)).toEqual(
      [0, 1, 2, 3, 4].map((n) => [`r${n}/0`, { why: expect.stringMatching(/^newer files took its place/) as unknown }]),
    );
    expect(contents.slice(5).map(([key]) => key)).toEqual(Array.from({ length: 20 }, (_, n) => `r${n + 5}/0`));
    expect(opened).toHaveLength(20);
    // The next request asks for nothing that this one had.
    await files.contents(reads, BOTH);
    expect(opened).toHaveLength(20);
  });

  it('to a model that takes none, a clause that says so, and nothing is read', async () => {
    const message = user('', {
      parts: [
        { type: 'file', fileId: 'a', name: 'a.png', mediaType: 'image/png', path: 'attachments/a.png' },
        { type: 'file', fileId: 'b', name: 'b.pdf', mediaType: 'application/pdf', path: 'attachments/b.pdf' },
        { type: 'file', fileId: 'c', name: 'c.txt', mediaType: 'text/plain', path: 'attachments/c.txt' },
      ],
    });
    const files = new TaskFiles({ files: [] }, new FileCache());
    expect(Object.fromEntries(await files.contents([message], { ...BOTH, input: ['text'] }))).toEqual({
      a: { why: 'this model takes no pictures' },
      b: { why: 'this model takes no PDF files' },
    });
  });

  it('and nothing more is decoded for a request that nobody waits for any more', async () => {
    const picture = await blank(30, 20).png().toBuffer();
    const stop = new AbortController();
    const opened: string[] = [];
    const open = (path: string) => () => {
      opened.push(path);
      stop.abort(new Error('cancelled'));
      return Promise.resolve(Readable.from([picture]));
    };
    const parts = ['a', 'b', 'c'].map((name) => {
      return { type: 'file' as const, fileId: name, name, mediaType: 'image/png', path: `attachments/${name}` };
    });
    const attached = parts.map(({ path }) => ({ path, open: open(path) }));
    const files = new TaskFiles({ files: attached }, new FileCache());
    const asked = files.contents([user('', { parts })], { ...BOTH, signal: stop.signal });
    await expect(asked).rejects.toThrow('cancelled');
    expect(opened).toEqual(['attachments/a']);
  });

  it('and not the file of another task whose model gave its call the same id', async () => {
    const cache = new FileCache();
    const shown = async (sha256: string, text: string) => {
      const file = { sha256, mediaType: 'application/pdf', name: 'a.pdf', size: 4 };
      const result = { status: 'success' as const, output: '', forModel: { files: [file] } };
      const files = new TaskFiles(
        { files: [], keptFile: () => Promise.resolve(Readable.from([Buffer.from(text)])) },
        cache,
      );
      return (await files.contents([assistant('', call('same', 'read', {}, result))], BOTH)).get('same/0');
    };
    for (const text of ['mine', 'hers']) {
      expect(await shown(`sha of ${text}`, text)).toMatchObject({ data: Buffer.from(text).toString('base64') });
    }
  });

  it('and a storage that is away is no answer: the call is tried again', async () => {
    const away = () => Promise.reject(new Error('ECONNREFUSED /secret'));
    const part = {
      type: 'file' as const,
      fileId: 'a',
      name: 'a.png',
      mediaType: 'image/png',
      path: 'attachments/a.png',
    };
    const message: ConversationMessage = user('', { parts: [part] });
    const files = new TaskFiles({ files: [{ path: part.path, open: away }] }, new FileCache());
    await expect(files.contents([message], BOTH)).rejects.toMatchObject({
      name: 'ModelError',
      retryable: true,
      message: 'A file of the task could not be read from the storage.',
    });
  });
});

it('keeps what was sent last, and no more than it may', () => {
  const cache = new FileCache();
  const large = 'x'.repeat(30 * 1024 * 1024);
  for (const key of ['a', 'b']) cache.set(key, large);
  expect(cache.get('a')).toBe(large);
  cache.set('c', large);
  expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true]);
});
