import { createHmac } from 'node:crypto';
import { decodeCursor, encodeCursor, Page, type PageScope } from './pages.js';

const mac = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest();
const scope: PageScope = { route: 'GET /v1/tasks', workspaceId: 'w', userId: 'u', filters: { status: 'queued', projectId: undefined } }; // prettier-ignore
const position = ['2026-01-01T00:00:00.000Z', '0197'];

describe('cursors', () => {
  const cursor = encodeCursor(mac('k'), scope, position);

  it('come back as the position, whatever the order of the filters', () => {
    expect(decodeCursor(mac('k'), scope, cursor)).toEqual(position);
    const reordered = { filters: { projectId: undefined, status: 'queued' }, userId: 'u', workspaceId: 'w', route: 'GET /v1/tasks' }; // prettier-ignore
    expect(decodeCursor(mac('k'), reordered, cursor)).toEqual(position);
  });
  it.each<[string, Partial<PageScope>]>([
    ['route', { route: 'GET /v1/projects' }],
    ['workspace', { workspaceId: 'v' }],
    ['user', { userId: 'v' }],
    ['filter', { filters: { status: 'failed' } }],
    ['filter more', { filters: { status: 'queued', projectId: 'p' } }],
    ['filter less', { filters: {} }],
  ])('are not good with another %s', (_what, other) => {
    expect(() => decodeCursor(mac('k'), { ...scope, ...other }, cursor)).toThrow('cursor');
  });
  it('are not good under another secret', () => {
    expect(() => decodeCursor(mac('l'), scope, cursor)).toThrow('cursor');
  });
  it('are not good with any one bit flipped', () => {
    const bytes = Buffer.from(cursor, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => decodeCursor(mac('k'), scope, flipped.toString('base64url'))).toThrow('cursor');
    }
  });
  it.each(['', 'a', '=', ' ', `${cursor}=`, ` ${cursor}`, cursor.slice(1), `${cursor}A`, `${cursor}!`, 'é'.repeat(40)])(
    'are not %j',
    (text) => {
      expect(() => decodeCursor(mac('k'), scope, text)).toThrow('cursor');
    },
  );
});

describe('Page', () => {
  const page = new Page(2, null, (at) => at.join());
  const positionOf = (n: number) => [String(n)];

  it('keeps its limit and points after its last row when there is one more', () => {
    expect(page.cut([1, 2, 3], positionOf)).toEqual({ rows: [1, 2], nextCursor: '2' });
    expect(page.cut([1, 2], positionOf)).toEqual({ rows: [1, 2], nextCursor: null });
    expect(page.cut([], positionOf)).toEqual({ rows: [], nextCursor: null });
  });
});
