import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { resultText } from '../../models/result-text.js';
import { WholeOutput } from './whole-output.js';

type Chunk = [stream: 0 | 1, text: string];

/** What is written to a file, and how often one is begun. */
async function written(characters: number, chunks: Chunk[], isTruncated = true) {
  const files: Promise<string>[] = [];
  const keep = (content: Readable) => Promise.resolve(files.push(text(content)));
  const whole = new WholeOutput(characters, keep);
  for (const [stream, chunk] of chunks) void whole.add(stream, Buffer.from(chunk));
  const number = await whole.end(() => isTruncated);
  const [file] = await Promise.allSettled(files);
  return { number, begun: files.length, file: file?.status === 'fulfilled' ? file.value : null };
}

/** As a model would read it if it were shown all of it. */
function uncut(stdout: string, stderr = '', turns: number[] = []): string {
  const output = { exitCode: 0, stdout, stderr, truncated: false };
  const forModel = { streams: { turns }, characters: Number.MAX_SAFE_INTEGER };
  return resultText({ status: 'success', output, forModel }).replace('exit 0\n', '');
}

const numbered = (length: number) => Array.from({ length }, (_, index) => `${index}\n`).join('');

describe('The whole of an output', () => {
  it.each<[string, Chunk[], string]>([
    ['is what was written', [[0, numbered(500)]], uncut(numbered(500))],
    [
      'has both streams in the order of arrival, and each line in one piece',
      [
        [0, 'a\nb'],
        [1, 'x\n'],
        [0, 'c\nd\n'],
        [1, 'y\n'],
        [0, numbered(200)],
      ],
      `a\nx\nbc\nd\ny\n${numbered(200)}`.trimEnd(),
    ],
    [
      'has no colours and no progress, though they came in pieces',
      [
        [0, `${numbered(200)}\x1b[3`],
        [0, '1mred\x1b[0m\n 1%\r'],
        [1, 'e\n'],
        [0, ' 50%\r100%\r\nend\n'],
      ],
      `${numbered(200)}red\ne\n100%\nend`,
    ],
    [
      'has characters in one piece, and the end of a line that is not over',
      [
        [0, numbered(300)],
        [0, 'é'],
      ],
      `${numbered(300)}é`,
    ],
  ])('%s', async (_, chunks, expected) => {
    const { number, file } = await written(100, chunks);
    expect(number).toBe(1);
    expect(file).toBe(`${expected}\n`);
  });

  it('is what a model would read uncut, of any bytes', async () => {
    const bytes = Buffer.from(`${'é😀'.repeat(50)}\n`.repeat(40));
    const files: Promise<string>[] = [];
    const whole = new WholeOutput(100, (content) => Promise.resolve(files.push(text(content))));
    for (let at = 0; at < bytes.length; at += 7) void whole.add(0, bytes.subarray(at, at + 7));
    expect(await whole.end(() => true)).toBe(1);
    expect(await files[0]).toBe(`${uncut(bytes.toString())}\n`);
  });

  it('is written nowhere when the model is shown all of it', async () => {
    expect(await written(1_000, [[0, 'x\n'.repeat(400)]])).toEqual({ number: null, begun: 0, file: null });
    // More bytes than characters that are shown, of which little is left.
    expect(await written(1_000, [[0, 'wait...\r'.repeat(400)]], false)).toEqual({ number: null, begun: 0, file: null });
    // The record has lost the middle of it.
    expect(await written(1_000, [[0, 'wait...\r'.repeat(400)]])).toMatchObject({ number: 1, file: 'wait...\n' });
  });

  it('is held as far as it is shown, and no line of it for ever', async () => {
    let file: Readable | undefined;
    const whole = new WholeOutput(1_000, (content) => {
      file = content;
      content.resume();
      return new Promise(() => undefined);
    });
    for (let n = 0; n < 100; n++) void whole.add(0, Buffer.alloc(10_000, 'x'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(file).toBeDefined();
    expect(JSON.stringify(whole).length).toBeLessThan(80_000);
  });

  it('has the next chunk wait for the disk, and no longer when it is given up', async () => {
    const files: Readable[] = [];
    const whole = () =>
      new WholeOutput(1_000, (content) => (files.push(content), new Promise<number>(() => undefined)));
    const chunk = Buffer.from('line\n'.repeat(12_000));
    for (const goOn of [(file?: Readable) => file?.read() as unknown, (file?: Readable) => file?.destroy()]) {
      const one = whole();
      const waits = Array.from({ length: 5 }, () => one.add(0, chunk));
      expect(waits.map((wait) => wait !== undefined)).toEqual([false, false, false, false, true]);
      expect(files.at(-1)?.readableLength).toBeLessThan(350_000);
      goOn(files.at(-1));
      await waits[4];
      expect(one.add(0, chunk)).toBeUndefined();
    }
  });

  it('that cannot be written is told, and nothing more of it is held', async () => {
    let file: Readable | undefined;
    const whole = new WholeOutput(10, (content) => {
      file = content;
      return Promise.resolve(null);
    });
    void whole.add(0, Buffer.from(numbered(100)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(file?.destroyed).toBe(true);
    expect(whole.isKept).toBe(false);
    void whole.add(1, Buffer.from(numbered(100)));
    expect(await whole.end(() => true)).toBeNull();
  });
});
