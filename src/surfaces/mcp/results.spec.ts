import { bytesOf, MOST, shortened } from './results.js';

const parts = (many: number, long: number) => Array.from({ length: many }, (_, n) => ({ type: 'text', text: `${n}`.padEnd(long, 'x') })); // prettier-ignore
const CURSOR = 'c'.repeat(400);

describe('what is too long alone (reference §29)', () => {
  it.each([
    [1, 200_000],
    [20, 10_000],
    [48, 1_100],
    [150, 500],
    [3_000, 30],
  ])('a page of one message with %i texts of %i characters keeps its form and its cursor', (many, long) => {
    const page = { messages: [{ id: 'the-id', parts: parts(many, long) }], nextCursor: CURSOR };
    const short = shortened(page, 'GET /v1/x') as typeof page;
    expect(bytesOf(short)).toBeLessThanOrEqual(MOST);
    expect([short.nextCursor, short.messages.length]).toEqual([CURSOR, 1]);
    expect(JSON.stringify(short)).toContain('GET /v1/x has all');
    expect(JSON.stringify(short)).toContain('the-id');
  });

  it('addresses and ids are whole', () => {
    const downloadUrl = `https://mill.example/v1/files/x/content?${'t'.repeat(500)}`;
    const short = shortened({ file: { downloadUrl }, texts: parts(20, 10_000) }, 'GET /v1/x');
    expect(short['file']).toEqual({ downloadUrl });
  });

  it('what has no long texts and is no page is a text', () => {
    const short = shortened({ task: { metadata: parts(3_000, 10) } }, 'GET /v1/tasks/x');
    expect(bytesOf(short)).toBeLessThanOrEqual(MOST);
    expect(short).toEqual({ text: expect.stringContaining('GET /v1/tasks/x has all') as string });
  });
});
