import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { BACKFILL } from '../../src/operator/migrations/0034-task-lists.js';
import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { makeTask } from '../harness/files.js';
import { readPage, walk } from '../harness/pages.js';
import { createProject } from '../harness/projects.js';
import { createTask, type TaskBody } from '../harness/tasks.js';

type Listed = TaskBody & { archived: boolean; tags: string[] };

describe('The list of tasks: filters, search, order, archive (reference §2, §4, §11)', () => {
  let owner: Member;
  let ann: Member;
  let bob: Member;

  // No worker: every task stays as it was made.
  const service = useService();
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
    ann = await makeMember(service, { workspace: owner.workspace });
    bob = await makeMember(service, { workspace: owner.workspace });
  });

  const titles = async (who: Member, query: Record<string, string>) =>
    (await who.client.get<{ tasks: Listed[] }>(`/v1/tasks?${String(new URLSearchParams(query))}`)).body.tasks.map(({ title }) => title); // prettier-ignore
  const change = (who: Member, id: string, json: object) => who.client.patch<{ task: Listed }>(`/v1/tasks/${id}`, json);

  it('takes several statuses', async () => {
    const who = await makeMember(service);
    await createTask(who.client, { content: 'waits' });
    await makeTask(service, who);
    const cancelled = await createTask(who.client, { content: 'stopped' });
    await who.client.post(`/v1/tasks/${cancelled.id}/cancel`);
    expect(await titles(who, { status: 'queued' })).toEqual(['waits']);
    expect(await titles(who, { status: 'cancelled,queued' })).toEqual(['stopped', 'waits']);
    expect(await titles(who, { status: 'failed,failed' })).toEqual([]);
  });

  it('takes a tag, pairs of metadata and times, and a task has all that is asked for', async () => {
    const who = await makeMember(service);
    const metadata = { ticket: 'A-1', 'with.dot': 'ä=b&c', toString: 'x' };
    await createTask(who.client, { content: 'both', tags: ['bug', 'to do'], metadata });
    await createTask(who.client, { content: 'tagged', tags: ['bug', 'Bug'] });
    await createTask(who.client, { content: 'neither' });
    expect(await titles(who, { tag: 'bug' })).toEqual(['tagged', 'both']);
    expect(await titles(who, { tag: 'to do' })).toEqual(['both']);
    for (const tag of ['bu', 'BUG', 'to', 'ticket', 'A-1']) expect(await titles(who, { tag })).toEqual([]);
    for (const [key, value] of Object.entries(metadata)) {
      expect(await titles(who, { [`metadata.${key}`]: value })).toEqual(['both']);
      expect(await titles(who, { [`metadata.${key}`]: '' })).toEqual([]);
    }
    const all = { 'metadata.ticket': 'A-1', 'metadata.toString': 'x', tag: 'bug', q: 'both', status: 'queued' };
    expect(await titles(who, all)).toEqual(['both']);
    expect(await titles(who, { ...all, 'metadata.toString': 'y' })).toEqual([]);
    expect(await titles(who, { ...all, tag: 'Bug' })).toEqual([]);
    expect(await titles(who, { 'metadata.absent': 'A-1' })).toEqual([]);
  });

  it('takes a time after which, or before which, the tasks were created', async () => {
    const who = await makeMember(service);
    for (const [title, at] of [['first', '2026-03-01T00:00:00.000Z'], ['second', '2026-03-02T10:00:00.000Z']]) {
      const { id } = await createTask(who.client, { content: title });
      await service.db.query('UPDATE tasks SET created_at = $2 WHERE id = $1', [id, at]);
    }
    expect(await titles(who, { createdAfter: '2026-03-01T00:00:00Z' })).toEqual(['second']);
    expect(await titles(who, { createdAfter: '2026-02-28T23:59:59.999Z' })).toEqual(['second', 'first']);
    expect(await titles(who, { createdBefore: '2026-03-02T11:00:00+01:00' })).toEqual(['first']);
    expect(await titles(who, { createdAfter: '2026-03-01', createdBefore: '2026-03-03' })).toEqual(['second']);
  }); // prettier-ignore

  it('finds words, or words that begin so, in whatever case, accents and punctuation', async () => {
    const who = await makeMember(service);
    const content = [
      'Fix the authentication in src/login/user.service.ts (v2.10)!',
      'It`s the LOGIN_TIMEOUT of Café Müller; ПРИВЕТ, naïve “quotes”—done.',
      '日本語のバグを修正 안녕하세요 1e5',
      '🚀Deploy ✅Ship نعم،لا',
    ].join('\n');
    await createTask(who.client, { content, title: 'Kaputter Türöffner' });
    await createTask(who.client, { content: 'Something else' });
    const found = ['auth', 'AUTHENTICATION fix', 'service.ts', 'src/login', 'user service', 'timeout', 'login_time', 'cafe', 'CAFÉ', 'mull',
      'привет', 'naive', 'quotes', 'done', 'türö', 'turoff kaputt', '日本', '本語', 'バグ', '修正', '안녕', '1e5', 'v2.1', '(v2', 'deploy', 'SHIP', 'لا', "it's", 'fix & auth | !', ' fix ']; // prettier-ignore
    for (const q of found) expect([q, await titles(who, { q })]).toEqual([q, ['Kaputter Türöffner']]);
    const none = [
      'thentic',
      'fix something',
      '本日',
      '語日',
      'auth:*',
      "'; --",
      '???',
      ' ',
      '-',
      '😀',
      '🚀',
      '✅',
      '\ufdfa'.repeat(200),
      'x'.repeat(200),
    ];
    for (const q of none.filter((one) => one !== 'auth:*')) expect([q, await titles(who, { q })]).toEqual([q, []]);
    expect(await titles(who, { q: 'auth:*' })).toEqual(['Kaputter Türöffner']);
  });

  it('looks through the title as it is now and the first 10,000 characters of the first message alone', async () => {
    const who = await makeMember(service);
    const content = `${'😀'.repeat(9_990)} inside ${'x'.repeat(20)} outside`;
    const { id } = await createTask(who.client, { content, title: 'Earlier' });
    await who.client.post(`/v1/tasks/${id}/messages`, { content: 'afterwards' });
    for (const q of ['outside', 'afterwards', 'later']) expect(await titles(who, { q })).toEqual([]);
    for (const q of ['inside', 'earlier']) expect(await titles(who, { q })).toEqual(['Earlier']);
    await change(who, id, { title: 'Later' });
    expect([await titles(who, { q: 'later' }), await titles(who, { q: 'earlier' })]).toEqual([['Later'], []]);
  });

  it('looks through the title alone where the transparency policy hides what messages say', async () => {
    const who = await makeMember(service);
    const workspaces = service.app.get(WorkspacesService, { strict: false });
    await createTask(who.client, { content: 'the hidden words', title: 'A plain title', tags: ['one'] });
    const found = async () => [
      await titles(who, { q: 'hid' }),
      await titles(who, { q: 'hidden', tag: 'one' }),
      await titles(who, { q: 'plain', tag: 'one' }),
      await titles(who, { tag: 'one' }),
    ];
    const it = ['A plain title'];
    expect(await found()).toEqual([it, it, it, it]);
    await workspaces.expose(who.workspace.id, ['files']);
    expect(await found()).toEqual([[], [], it, it]);
  });

  it('finds tasks of earlier versions, once their migration has run', async () => {
    const who = await makeMember(service);
    const { id } = await createTask(who.client, { content: `ancient ${'x'.repeat(10_000)}`, title: 'Old' });
    const found = () => service.db.query('SELECT opening, updated_slot FROM tasks WHERE id = $1', [id]);
    const before = await found();
    await service.db.query("UPDATE tasks SET opening = '', updated_slot = 0 WHERE id = $1", [id]);
    expect(await titles(who, { q: 'ancient' })).toEqual([]);
    await service.db.query(BACKFILL);
    expect([await titles(who, { q: 'ancient' }), await found()]).toEqual([['Old'], before]);
  });

  it('shows by each filter only what the caller sees', async () => {
    const { id: projectId } = await createProject(ann, { name: 'Shared', visibility: 'workspace' });
    const about = { content: 'Zebra', tags: ['zoo'], metadata: { zoo: '1' } };
    await createTask(ann.client, { ...about, title: 'private' });
    await createTask(ann.client, { ...about, title: 'shared', projectId });
    const stranger = await makeMember(service, { role: 'owner' });
    for (const query of [{ q: 'zebra' }, { tag: 'zoo' }, { 'metadata.zoo': '1' }, { q: 'zebra', sort: 'updatedAt' }]) {
      for (const who of [ann, owner]) expect(await titles(who, query)).toEqual(['shared', 'private']);
      expect(await titles(bob, query)).toEqual(['shared']);
      expect(await titles(stranger, query)).toEqual([]);
    }
  });

  it('leaves out what is archived, unless it is asked for', async () => {
    const who = await makeMember(service);
    const ids: string[] = [];
    for (const title of ['a', 'b', 'c', 'd']) ids.push((await createTask(who.client, { content: 'x', title })).id);
    for (const id of [ids[1], ids[2]]) {
      expect((await change(who, id ?? '', { archived: true })).body.task).toMatchObject({ archived: true, status: 'queued' });
    }
    expect(await titles(who, {})).toEqual(['d', 'a']);
    expect(await titles(who, { archived: 'false' })).toEqual(['d', 'a']);
    expect(await titles(who, { archived: 'true' })).toEqual(['c', 'b']);
    expect(await titles(who, { archived: 'all' })).toEqual(['d', 'c', 'b', 'a']);
    expect(await titles(who, { archived: 'true', q: 'c' })).toEqual(['c']);
    expect(await walk(who.client, '/v1/tasks?archived=all', 1)).toEqual(ids.toReversed());
    await change(who, ids[1] ?? '', { archived: false });
    expect(await titles(who, {})).toEqual(['d', 'b', 'a']);
    expect((await who.client.get(`/v1/tasks/${ids[2]}`)).status).toBe(200);
  }); // prettier-ignore

  it('a message brings an archived task back, and its events say each', async () => {
    const { id } = await createTask(ann.client, { content: 'x' });
    await ann.client.post(`/v1/tasks/${id}/cancel`);
    await change(ann, id, { archived: true, tags: ['old'] });
    await change(ann, id, { archived: true, tags: ['old'], effort: 'low' });
    const sent = await ann.client.post<{ task: Listed }>(`/v1/tasks/${id}/messages`, { content: 'Go on.' });
    expect(sent.body.task).toMatchObject({ archived: false, status: 'queued', tags: ['old'] });
    await change(ann, id, { archived: true });
    await ann.client.post(`/v1/tasks/${id}/messages`, { content: 'And on.' });
    type Events = { events: { type: string; seq: number; data: { changed?: string[] } }[] };
    const { events } = (await ann.client.get<Events>(`/v1/tasks/${id}/events?types=task.*`)).body;
    expect(events.map(({ type, data }) => [type, ...(data.changed ?? [])])).toEqual([
      ['task.created'],
      ['task.cancelled'],
      ['task.updated', 'tags', 'archived'],
      ['task.updated', 'effort'],
      ['task.updated', 'archived'],
      ['task.queued'],
      ['task.updated', 'archived'],
      ['task.updated', 'archived'],
    ]);
    const seqs = await service.db.query('SELECT seq FROM task_events WHERE task_id = $1 ORDER BY seq', [id]);
    expect(seqs).toEqual(seqs.map((_row, n) => ({ seq: n + 1 })));
  });

  it('sorted by updatedAt, a task that changes comes first; the pages hold each once', async () => {
    const who = await makeMember(service);
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push((await createTask(who.client, { content: 'x' })).id);
    // Of two of them the change lies hours back, of two others it is the same.
    const times = ['10:00', '12:30', '12:30', '12:35', '12:41', '09:00'];
    for (const [n, time] of times.entries()) {
      await service.db.query('UPDATE tasks SET updated_at = $2 WHERE id = $1', [ids[n], `2026-03-01T${time}:00Z`]);
    }
    const [first, , , third] = ids;
    const path = '/v1/tasks?sort=updatedAt';
    const at = (...places: number[]) => places.map((n) => ids[n]);
    for (const limit of [1, 2, 5]) expect(await walk(who.client, path, limit)).toEqual(at(4, 3, 2, 1, 0, 5));
    await change(who, first ?? '', { title: 'Changed' });
    expect(await walk(who.client, path, 4)).toEqual(at(0, 4, 3, 2, 1, 5));
    await change(who, third ?? '', { archived: true });
    expect(await walk(who.client, `${path}&archived=all`, 2)).toEqual(at(3, 0, 4, 2, 1, 5));
    const { nextCursor } = await readPage(who.client, path, { limit: '1' });
    const elsewhere = await who.client.get<ErrorBody>(`/v1/tasks?limit=1&cursor=${nextCursor}`);
    expect([elsewhere.status, elsewhere.body.error.code]).toEqual([400, 'invalid_cursor']);
  });

  it.each([
    ...['status=', 'status=done', 'status=queued,', 'status=queued,done', 'tag=', `tag=${'x'.repeat(65)}`, 'q=', `q=${'x'.repeat(201)}`],
    ...['archived=', 'archived=yes', 'sort=', 'sort=title', 'sort=-createdAt', 'createdAfter=', 'createdAfter=yesterday', 'createdBefore=1'],
    ...['createdBefore=2026-02-30', 'metadata=x', 'metadata.=x', `metadata.${'k'.repeat(65)}=x`, `metadata.k=${'x'.repeat(513)}`],
    ...['metadata[k]=x', 'q=a&q=b', 'metadata.k=a&metadata.k=b', 'tags=x', 'search=x', 'q=%00'],
  ])('the query %s is 400 invalid_query, which names it', async (query) => {
    const name = query.split('=')[0] ?? '';
    const { status, body } = await ann.client.get<ErrorBody>(`/v1/tasks?${query}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_query']);
    expect(name.startsWith(body.error.param ?? '-')).toBe(true);
    expect(body.error.message).toContain(body.error.param);
  }); // prettier-ignore

  it('metadata takes an object in JSON too, as clients made of the document send it', async () => {
    const given = { ticket: 'MILL-7', 'a b.c': 'x&y=z' };
    const { id } = await createTask(ann.client, { content: 'x', metadata: { ...given, more: '1' } });
    await createTask(ann.client, { content: 'x', metadata: { ticket: 'MILL-7' } });
    const found = async (query: string) =>
      (await ann.client.get<{ tasks: { id: string }[] }>(`/v1/tasks?${query}`)).body.tasks.map((task) => task.id);
    const json = encodeURIComponent(JSON.stringify(given));
    expect(await found(`metadata=${json}`)).toEqual([id]);
    expect(await found(`metadata=${encodeURIComponent('{"ticket":"MILL-7"}')}&metadata.more=1`)).toEqual([id]);
    for (const wrong of ['[]', '1', '{"a":1}', '{"":"x"}', '{"a":{}}', '{"__proto__":"x"}', '{"a":"1","a":"2"}']) {
      const { status, body } = await ann.client.get<ErrorBody>(`/v1/tasks?metadata=${encodeURIComponent(wrong)}`);
      expect([wrong, status, body.error.code, body.error.param]).toEqual([wrong, 400, 'invalid_query', 'metadata']);
    }
  });

  it('metadata takes at most 16 pairs', async () => {
    const pairs = (count: number) => Array.from({ length: count }, (_, n) => `metadata.k${n}=v`).join('&');
    expect((await ann.client.get(`/v1/tasks?${pairs(16)}`)).status).toBe(200);
    expect((await ann.client.get(`/v1/tasks?${pairs(17)}`)).status).toBe(400);
  });
});
