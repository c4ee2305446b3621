import { readList } from './read-list.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
/** A server of these pages; the last one goes on for ever. */
function pages(...all: Record<string, unknown>[]) {
  const asked: (string | undefined)[] = [];
  const times: number[] = [];
  const ask = ({ cursor }: { cursor?: string }, timeoutMs: number) => {
    asked.push(cursor);
    times.push(timeoutMs);
    return Promise.resolve(all[asked.length - 1] ?? all.at(-1) ?? {});
  };
  return { asked, times, read: () => readList({ kind: 'program', tools: ['*'] }, ask) };
}

describe('A list of many pages (reference §28)', () => {
  it('is read to its end, and counts for the shortest time', async () => {
    const { asked, read } = pages(
      { tools: [tool('a')], nextCursor: '2', ttlMs: 500 },
      { tools: [tool('b')], nextCursor: '3', ttlMs: 9_000 },
      { tools: [tool('c')], nextCursor: null },
    );
    const { tools, ...more } = await read();
    expect(tools.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(more).toEqual({ leftOut: null, ttlMs: 500 });
    expect(asked).toEqual([undefined, '2', '3']);
  });

  it('is read no further when there are 64 tools', async () => {
    const tools = Array.from({ length: 64 }, (_, n) => tool(`t${n}`));
    const { asked, read } = pages({ tools, nextCursor: 'x' });
    expect(await read()).toMatchObject({ leftOut: 'the rest of the list: a server has at most 64 tools' });
    expect(asked).toHaveLength(1);
  });

  it('has 16 MiB and 64 pages at most', async () => {
    const large = pages({ tools: [], filling: 'x'.repeat(5 * 1024 ** 2), nextCursor: 'x' });
    expect(await large.read()).toMatchObject({ leftOut: 'the rest of the list: a list has at most 16 MiB' });
    expect(large.asked).toHaveLength(4);
    const long = pages({ tools: [], nextCursor: 'x' });
    expect(await long.read()).toMatchObject({ leftOut: 'the rest of the list: a list has at most 64 pages' });
    expect(long.asked).toHaveLength(64);
  });

  it('comes in 10 s as a whole', async () => {
    const { times, read } = pages({ tools: [], nextCursor: 'x' });
    await read();
    expect(times[0]).toBeLessThanOrEqual(10_000);
    expect(times.every((one, n) => n === 0 || one < (times[n - 1] ?? 0))).toBe(true);
  });

  it('is one line of the log, however many of its entries are odd', async () => {
    const began = performance.now();
    const { read } = pages({ tools: [...Array<null>(500_000).fill(null), tool('a')] });
    const { tools, leftOut } = await read();
    expect(tools).toHaveLength(1);
    expect(leftOut?.length).toBeLessThan(300);
    expect(leftOut).toMatch(/; and 499995 more$/);
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it('is not read for long, however many of its schemas multiply', async () => {
    const properties = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`p${n}`, { $ref: '#' }]));
    const tools = Array.from({ length: 20_000 }, (_, n) => ({ name: `t${n}`, inputSchema: { properties } }));
    const began = performance.now();
    const { leftOut } = await pages({ tools: [...tools, tool('a')] }).read();
    expect(leftOut).toMatch(/^t0: its schema has more than 16 KiB; /);
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});
