import { createHmac } from 'node:crypto';
import { decodeCursor, encodeCursor, PageQuery, PageRequest, type CursorBinding } from './pages.js';

const mac = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest();
const binding: CursorBinding = { route: 'GET /v1/tasks', workspaceId: 'w', userId: 'u', filters: { status: 'queued', projectId: undefined } }; // prettier-ignore
const position = ['2026-01-01T00:00:00.000Z', '0197'];

describe('cursors', () => {
  const cursor = encodeCursor(mac('k'), binding, position);

  it('come back as the position, whatever the order of the filters', () => {
    expect(decodeCursor(mac('k'), binding, cursor)).toEqual(position);
    const reordered = { filters: { projectId: undefined, status: 'queued' }, userId: 'u', workspaceId: 'w', route: 'GET /v1/tasks' }; // prettier-ignore
    expect(decodeCursor(mac('k'), reordered, cursor)).toEqual(position);
  });
  it.each<[string, Partial<CursorBinding>]>([
    ['route', { route: 'GET /v1/projects' }],
    ['workspace', { workspaceId: 'v' }],
    ['user', { userId: 'v' }],
    ['filter', { filters: { status: 'failed' } }],
    ['filter more', { filters: { status: 'queued', projectId: 'p' } }],
    ['filter less', { filters: {} }],
  ])('are not good with another %s', (_what, other) => {
    expect(() => decodeCursor(mac('k'), { ...binding, ...other }, cursor)).toThrow('cursor');
  });
  it('are not good under another secret', () => {
    expect(() => decodeCursor(mac('l'), binding, cursor)).toThrow('cursor');
  });
  // Of every length modulo 3, so with every number of spare bits in the last letter.
  const samples = [
    position,
    ['x'],
    ['xy'],
    ['xyz'],
    ['12'],
    ['2026-01-01T00:00:00.000Z', '0197a1fd-c89d-7e67-80d0-a884574b6969'],
  ];
  describe.each(samples.map((sample) => [sample.join(), sample]))('of %s', (_title, sample) => {
    const text = encodeCursor(mac('k'), binding, sample);
    const accepted = (others: string[]) => others.filter((other) => isAccepted(other));
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=.'];

    it('are not good with any one bit of their bytes flipped', () => {
      const flips = bitFlips(Buffer.from(text, 'base64url')).map((bytes) => bytes.toString('base64url'));
      expect(accepted([text, ...flips])).toEqual([text]);
    });
    it('are not good with any one bit of their text flipped', () => {
      const flips = bitFlips(Buffer.from(text, 'latin1')).map((bytes) => bytes.toString('latin1'));
      expect(accepted([text, ...flips])).toEqual([text]);
    });
    it('are not good with any other letter in any place, the spare bits of the last one included', () => {
      const others = [...text].flatMap((_, at) => letters.map((one) => text.slice(0, at) + one + text.slice(at + 1)));
      expect(new Set(accepted(others))).toEqual(new Set([text]));
    });
  }); // prettier-ignore
  it.each(['', 'a', '=', ' ', `${cursor}=`, ` ${cursor}`, cursor.slice(1), `${cursor}A`, `${cursor}!`, 'é'.repeat(40)])(
    'are not %j',
    (text) => {
      expect(() => decodeCursor(mac('k'), binding, text)).toThrow('cursor');
    },
  );
});

/** Whether the binding takes a text as a cursor; what is thrown is one and the same error. */
function isAccepted(text: string): boolean {
  try {
    decodeCursor(mac('k'), binding, text);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'invalid_cursor') return false;
    throw error;
  }
}

/** Copies of some bytes, each with another bit flipped. */
function bitFlips(bytes: Buffer): Buffer[] {
  return Array.from({ length: bytes.length * 8 }, (_, bit) => {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return flipped;
  });
}

describe('PageRequest', () => {
  const page = new PageRequest(Object.assign(new PageQuery(), { limit: 2 }), null, (at) => at.join());
  const positionOf = (n: number) => [String(n)];

  it('keeps its limit and points after its last row when there is one more', () => {
    expect(page.cut([1, 2, 3], positionOf)).toEqual({ rows: [1, 2], nextCursor: '2' });
    expect(page.cut([1, 2], positionOf)).toEqual({ rows: [1, 2], nextCursor: null });
    expect(page.cut([], positionOf)).toEqual({ rows: [], nextCursor: null });
  });
});
