import { newId } from '../../src/platform/database/ids.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { readPage, walk } from '../harness/pages.js';
import { createTask, finished, reaches } from '../harness/tasks.js';

const TASKS = 3_200;
/** More than a search looks up one by one, and none among the newest. */
const isEarly = (n: number) => n < 2_700;
const isRare = (n: number) => n === 3 || n === 1_500 || n === 3_000;

describe('A search among thousands of tasks (reference §2)', () => {
  let who: Member;
  /** From the oldest to the newest. */
  let ids: string[];

  const service = useService();
  beforeAll(async () => {
    who = await makeMember(service);
    ids = Array.from({ length: TASKS }, newId);
    await service.db.query(
      `INSERT INTO tasks (id, workspace_id, created_by, title, status, model, tags, metadata, created_at, updated_at, archived)
       SELECT id, $1, $2, 'everywhere ' || CASE WHEN n < 2700 THEN 'early ' ELSE '' END || CASE WHEN n IN (3, 1500, 3000) THEN 'rare' ELSE '' END,
         'completed', 'runbook', CASE WHEN n < 2700 THEN ARRAY['early'] ELSE '{}' END,
         CASE WHEN n < 2700 THEN '{"kind": "early"}' ELSE '{}' END::jsonb,
         timestamptz '2026-03-01Z' + n * interval '1 second', timestamptz '2026-04-01Z' - n * interval '1 second', n % 2 = 1
       FROM unnest($3::uuid[]) WITH ORDINALITY AS i (id, nth), LATERAL (SELECT nth - 1 AS n) at`,
      [who.workspace.id, who.user.id, ids],
    );
  }); // prettier-ignore

  const newestFirst = (which: (n: number) => boolean) => ids.filter((_id, n) => which(n)).reverse();

  it.each([
    ['a word that all have', 'q=everywhere', () => true],
    ['a word that many have, and none of the newest', 'q=early', isEarly],
    ['the beginning of a word', 'q=ear', isEarly],
    ['a word that few have', 'q=rare', isRare],
    ['words of which one is rare', 'q=rare+everywhere', isRare],
    ['a word that none has', 'q=nowhere', () => false],
    ['a tag', 'tag=early', isEarly],
    ['a pair of metadata', 'metadata.kind=early', isEarly],
    ['a word and a tag', 'q=rare&tag=early', (n: number) => isRare(n) && isEarly(n)],
    ['a word and a status', 'q=early&status=completed', isEarly],
    ['a word and a status that none has', 'q=everywhere&status=failed', () => false],
  ])('finds %s: each task once, in order, page by page', async (_what, query, which) => {
    const current = (n: number) => which(n) && n % 2 === 0;
    expect(await walk(who.client, `/v1/tasks?${query}`, 100)).toEqual(newestFirst(current));
    expect(await walk(who.client, `/v1/tasks?${query}&archived=all`, 100)).toEqual(newestFirst(which));
    const changedLast = newestFirst(current).reverse();
    expect(await walk(who.client, `/v1/tasks?${query}&sort=updatedAt`, 100)).toEqual(changedLast);
  });

  it('a page without tasks of the word is the last one, whatever its length', async () => {
    const page = await readPage(who.client, '/v1/tasks', { q: 'nowhere', limit: '1' });
    expect(page).toEqual({ ids: [], nextCursor: null });
  });

  it('another workspace finds its own alone', async () => {
    const other = await makeMember(service);
    const { id } = await createTask(other.client, { content: 'rare and early', tags: ['early'] });
    for (const query of ['q=rare', 'q=everywhere', 'tag=early', 'metadata.kind=early']) {
      const found = await walk(other.client, `/v1/tasks?${query}`, 10);
      expect(found).toEqual(['q=rare', 'tag=early'].includes(query) ? [id] : []);
    }
  });
});

describe('Tasks that workers have, in lists (reference §2)', () => {
  let model: HeldModel;
  let who: Member;

  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url } });
  });
  beforeAll(async () => {
    who = await makeMember(service);
  });
  afterAll(() => model.server.stop());

  const list = (query: string) => walk(who.client, `/v1/tasks?${query}`, 1);
  const begin = async () => {
    const { id } = await createTask(who.client, { content: 'Grind.', title: 'Grind' });
    return { id, asked: await model.asked() };
  };

  it('stand by the time of their last step, and by how they have ended', async () => {
    const first = await begin();
    first.asked.answer({ text: 'Done.' });
    await finished(who.client, first.id);
    const works = await begin();
    const last = await begin();
    last.asked.answer({ text: 'Done.' });
    await finished(who.client, last.id);
    expect(await list('sort=updatedAt')).toEqual([last.id, works.id, first.id]);
    works.asked.answer(bash('true'));
    const next = await model.asked();
    expect(await list('sort=updatedAt')).toEqual([works.id, last.id, first.id]);
    expect(await list('sort=updatedAt&status=running,completed')).toEqual([works.id, last.id, first.id]);
    expect(await list('status=running,completed')).toEqual([last.id, works.id, first.id]);
    await who.client.post(`/v1/tasks/${works.id}/cancel`);
    await reaches(who.client, works.id, 'cancelled');
    next.answer({ text: 'Too late.' });
    for (const sort of ['createdAt', 'updatedAt']) {
      expect(await list(`sort=${sort}&status=cancelled`)).toEqual([works.id]);
      expect(await list(`sort=${sort}&status=failed,cancelled`)).toEqual([works.id]);
    }
    await who.client.post(`/v1/tasks/${first.id}/messages`, { content: 'Once more.' });
    const again = await model.asked();
    expect(await list('status=completed')).toEqual([last.id]);
    expect(await list('status=running')).toEqual([first.id]);
    expect((await list('sort=updatedAt'))[0]).toBe(first.id);
    again.answer({ text: 'Done.' });
    await finished(who.client, first.id);
    expect(await list('sort=updatedAt&status=completed')).toEqual([first.id, last.id]);
  });
});
