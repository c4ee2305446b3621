import { Arrival, streamsOf } from './arrival.js';
import { Output } from './output.js';

/** What is said of chunks that come in this order, `!` before those of the second stream. */
function told(chunks: string[], keep?: { first: number; last: number }) {
  const outputs = [new Output(keep), new Output(keep)] as const;
  const arrival = new Arrival();
  for (const chunk of chunks) {
    const stream = chunk.startsWith('!') ? 1 : 0;
    outputs[stream].add(Buffer.from(chunk.slice(stream)));
    arrival.note(stream, outputs[stream].bytes);
  }
  return { ...streamsOf(arrival, outputs).streams, texts: outputs.map((output) => output.text()) };
}

/** The lines as they are put together from that, without those that say what was left out. */
function together({ turns = [], texts }: ReturnType<typeof told>): string[] {
  const lines = texts.map((text) => text.replace(/\n$/, '').split('\n'));
  const all = turns.flatMap((length, index) => lines[index % 2]?.splice(0, length) ?? []);
  return [...all, ...lines.flat()].filter((line) => /^\d{3,}$/.test(line));
}

describe('The order of two streams', () => {
  it.each<[string, string[], number[] | undefined]>([
    ['of one stream is not told', ['a\n', 'b\n'], undefined],
    ['of the second alone is not told', ['!a\n', '!b\n'], undefined],
    ['is not told when the first comes first', ['a\n', 'b\n', '!c\n'], undefined],
    ['is told without its last turns', ['a\n', '!b\n', 'c\n', 'd\n'], [1, 1]],
    ['is told when the second comes first', ['!b\n', 'c\n'], [0, 1]],
    ['has whole lines: an end that comes later goes with its beginning', ['a', '!b\n', 'a\nc\n', '!d\n'], [1, 1]],
    ['and a turn that only ends a line is none', ['a\nb', '!x\n', 'b', '!y\n', 'b\nc\n', '!z\n', 'd\n'], [2, 2, 1, 1]],
    ['of nothing', [], undefined],
  ])('%s', (_, chunks, turns) => {
    expect(told(chunks).turns).toEqual(turns);
  });

  it('is that of arrival, line by line', () => {
    const chunks = Array.from({ length: 90 }, (_, n) => `${n % 3 === 0 ? '!' : ''}${100 + n}\n`);
    expect(together(told(chunks))).toEqual(chunks.map((chunk) => chunk.replace(/[!\n]/g, '')));
  });

  it('of many turns is that of the beginning and of the end, in bounded memory', () => {
    const chunks = Array.from({ length: 20_000 }, (_, n) => `${n % 2 === 1 ? '!' : ''}${100 + n}\n`);
    const all = told(chunks);
    const lines = together(all);
    expect(all.turns?.length).toBeLessThanOrEqual(400);
    expect(lines.slice(0, 100)).toEqual(chunks.slice(0, 100).map((chunk) => chunk.replace(/[!\n]/g, '')));
    expect(lines.slice(-100)).toEqual(chunks.slice(-100).map((chunk) => chunk.replace(/[!\n]/g, '')));
    expect(lines.length).toBe(20_000);
  });

  it.each([10, 11, 12, 13])('knows the lines beside what was left out after %d bytes', (first) => {
    const chunks = Array.from({ length: 50 }, (_, n) => `${n % 2 === 1 ? '!' : ''}${100 + n}\n`);
    const all = told(chunks, { first, last: 12 });
    const { texts, gaps } = all;
    expect(gaps?.map((gap, stream) => texts[stream]?.split('\n')[gap ?? 0])).toEqual(
      ['', ''].map(() => `[… ${100 - first - 12} bytes left out …]`),
    );
    const lines = together(all);
    expect(lines.slice(0, 4)).toEqual(['100', '101', '102', '103']);
    expect(lines.slice(-6)).toEqual(['144', '145', '146', '147', '148', '149']);
  });
});
