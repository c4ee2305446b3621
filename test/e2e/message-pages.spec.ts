import { randomBytes } from 'node:crypto';
import { newId } from '../../src/platform/database/ids.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { withQuery } from '../harness/pages.js';
import { createTask, type MessageBody } from '../harness/tasks.js';

const MIB = 1024 * 1024;
const LONGEST = 200_000;

/** Texts of messages: what compresses well, what does not, short ones among long ones, and characters of four bytes. */
const TEXTS = [
  ...Array.from({ length: 12 }, (_, n) => 'a'.repeat(LONGEST - n)),
  'short',
  ...Array.from({ length: 8 }, () => randomBytes(LONGEST / 2).toString('hex')),
  ...Array.from({ length: 40 }, (_, n) => `short ${n}`),
  ...Array.from({ length: 4 }, () => '😀'.repeat(LONGEST / 2)),
  'the last',
];

interface Page {
  messages: MessageBody[];
  nextCursor: string | null;
}

describe('Pages of long messages (reference §11)', () => {
  let member: Member;
  let taskId: string;
  /** The ids of all messages, oldest first. */
  let all: string[];

  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
    ({ id: taskId } = await createTask(member.client, { content: 'The first.' }));
    await addMessages(taskId, TEXTS);
    const rows = await service.db.query<{ id: string }>('SELECT id FROM messages WHERE task_id = $1 ORDER BY seq', [
      taskId,
    ]);
    all = rows.map(({ id }) => id);
  });

  /** Messages that wait, as they are stored. */
  const addMessages = async (task: string, texts: string[]) => {
    await service.db.query(
      `INSERT INTO messages (id, task_id, seq, role, status, created_by, parts)
       SELECT id, $1, n + 1, 'user', 'queued', $2, jsonb_build_array(jsonb_build_object('type', 'text', 'text', words))
       FROM unnest($3::uuid[], $4::text[]) WITH ORDINALITY one (id, words, n)`,
      [task, member.user.id, texts.map(() => newId()), texts],
    );
  };
  const pages = async (query: Record<string, string>, task = taskId) => {
    const found: Page[] = [];
    for (let next = query; ;) {
      const path = withQuery(`/v1/tasks/${task}/messages`, next);
      const { status, body } = await member.client.get<Page>(path);
      expect(status).toBe(200);
      found.push(body);
      if (body.nextCursor === null) return found;
      next = { ...query, cursor: body.nextCursor };
    }
  };
  const idsOf = (found: Page[]) => found.flatMap(({ messages }) => messages.map(({ id }) => id));
  const bytesOf = (messages: MessageBody[]) => Buffer.byteLength(JSON.stringify(messages));

  it.each([
    ['oldest first', {}],
    ['newest first', { order: 'desc' }],
    ['with a small limit', { limit: '3' }],
  ])('%s, nothing is skipped and nothing repeated', async (_title, more) => {
    const query = { limit: '100', ...more };
    const found = await pages(query);
    expect(idsOf(found)).toEqual('order' in query ? [...all].reverse() : all);
    expect(Math.max(...found.map(({ messages }) => messages.length))).toBeLessThanOrEqual(Number(query.limit));
  });

  it.each(['asc', 'desc'])('after a message, %s, there is all that came later and nothing else', async (order) => {
    const later = all.slice(5);
    const found = await pages({ limit: '100', after: all[4] ?? '', order });
    expect(found.length).toBeGreaterThan(1);
    expect(idsOf(found)).toEqual(order === 'desc' ? later.reverse() : later);
  });

  it.each(['asc', 'desc'])('a page ends early, %s, once its messages are a MiB long', async (order) => {
    const found = await pages({ limit: '100', order });
    for (const { messages, nextCursor } of found) {
      expect(bytesOf(messages.slice(0, -1))).toBeLessThan(1.01 * MIB);
      if (nextCursor !== null) expect(bytesOf(messages)).toBeGreaterThan(0.99 * MIB);
    }
    // The short ones in the middle stand on one page with long ones: it ends by its bytes alone.
    expect(Math.max(...found.map(({ messages }) => messages.length))).toBeGreaterThan(40);
  });

  it('a message that is longer than that by itself is a page', async () => {
    const { id } = await createTask(member.client, { content: 'The first.' });
    await addMessages(id, ['a'.repeat(1.5 * MIB), 'a'.repeat(1.5 * MIB)]);
    expect((await pages({}, id)).map(({ messages }) => messages.length)).toEqual([2, 1]);
  });
});
