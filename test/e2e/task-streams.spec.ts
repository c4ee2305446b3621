import { transparencyWith } from '../../src/platform/config/config-file.js';
import { Notices } from '../../src/platform/notices/notices.js';
import { Streams } from '../../src/resources/events/streams.js';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ALL_SHOWN, foldViews } from '../harness/events.js';
import { HandOverModule } from '../harness/hand-over.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { useStreams } from '../harness/streams.js';
import { call, createTask, finished, readMessages } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface Events {
  events: { type: string; seq: number; [field: string]: unknown }[];
  position: string;
  caughtUp: boolean;
}

describe('The events of a task, as a client follows them (reference §17)', () => {
  let model: HeldModel;
  let member: Member;
  const open = useStreams();

  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: { transparency: ALL_SHOWN },
      imports: [HandOverModule],
    });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.server.stop());

  const stream = (id: string, query = '', headers: Record<string, string> = {}, who = member) =>
    open(`${service.url}/v1/tasks/${id}/events${query}`, who.key.secret, headers);
  const json = async (id: string, query = '', who = member) => {
    const answer = await who.client.get<Events>(`/v1/tasks/${id}/events${query}`);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const done = async (...answers: Parameters<Awaited<ReturnType<HeldModel['asked']>>['answer']>[0][]) => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    for (const answer of answers) (await model.asked()).answer(answer);
    await finished(member.client, id);
    return id;
  };
  const numbers = (events: { seq?: unknown }[]) => events.map(({ seq }) => seq);
  const upTo = (n: number) => Array.from({ length: n }, (_, index) => index + 1);

  it('come in JSON page by page, each once, and amount to the messages', async () => {
    const id = await done(bash('echo a', 'echo b >&2'), call('hand_over', {}), { text: 'Done.' });
    const all: Events['events'] = [];
    let page: Events | null = null;
    while (page?.caughtUp !== true) {
      page = await json(id, `?limit=3&after=${page?.position ?? 0}`);
      all.push(...page.events);
      expect(page.position).toBe(String(all.length));
    }
    expect(numbers(all)).toEqual(upTo(all.length));
    expect(all.map((event) => event['id'])).toEqual(all.map(({ seq }) => `${id}-${seq}`));
    expect(foldViews(all)).toEqual(await readMessages(member.client, id));
    expect(await json(id)).toEqual({ events: all, position: String(all.length), caughtUp: true });
    expect(await json(id, '?after=latest')).toEqual({ events: [], position: String(all.length), caughtUp: true });
  });

  it('come on a stream: the task, what was there, then what happens, in the order of their numbers', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await model.asked();
    const reader = await stream(id);
    expect([reader.status, reader.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(reader.headers['cache-control']).toBe('no-store, no-transform');
    expect(reader.headers['x-accel-buffering']).toBe('no');
    await reader.frame('stream.caught_up');
    expect(reader.retries).toEqual([1000]);
    const task = expect.objectContaining({ id, status: 'running' });
    expect(reader.frames[0]).toEqual({ id: '0', data: { type: 'stream.ready', position: '0', latest: 4, task } });
    expect(numbers(reader.events)).toEqual([1, 2, 3, 4]);
    expect(reader.frames.at(-1)).toEqual({ id: '4', data: { type: 'stream.caught_up', position: '4' } });
    first.answer({ text: 'Done.' });
    await reader.frame('task.completed');
    expect(numbers(reader.events)).toEqual(upTo(6));
    expect(reader.frames.filter(({ data }) => data.seq !== undefined).map((one) => one.id)).toEqual(
      upTo(6).map(String),
    );
    expect(reader.events).toEqual((await json(id)).events);
    expect(reader.ended).toBe(false);
  });

  it('a stream goes on where Last-Event-ID says, whatever `after` says', async () => {
    const id = await done({ text: 'Done.' });
    const reader = await stream(id, '?after=2', { 'Last-Event-ID': '4' });
    await reader.frame('stream.caught_up');
    expect(numbers(reader.events)).toEqual([5, 6]);
    const latest = await stream(id, '?after=latest');
    await latest.frame('stream.caught_up');
    expect([latest.frames[0]?.id, latest.events]).toEqual(['6', []]);
  });

  it('`until=final` ends the stream when the status is final and all is sent', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await model.asked();
    const reader = await stream(id, '?until=final');
    await reader.frame('stream.caught_up');
    first.answer({ text: 'Done.' });
    const last = { type: 'stream.end', reason: 'final', position: '6' };
    expect(await reader.end()).toEqual({ id: '6', data: last });
    expect(reader.types.at(-2)).toBe('task.completed');
    expect((await (await stream(id, '?until=final&after=6')).end())?.data).toEqual(last);
  });

  it('`types` chooses, with * for a last segment; the position goes past the others', async () => {
    const id = await done(bash('true'), { text: 'Done.' });
    const { events, position } = await json(id);
    const some = await json(id, '?types=task.*,tool.completed');
    const wanted = events.filter(({ type }) => type.startsWith('task.') || type === 'tool.completed');
    expect(some).toEqual({ events: wanted, position, caughtUp: true });
    const reader = await stream(id, '?types=message.completed&until=final');
    expect((await reader.end())?.id).toBe(position);
    expect(new Set(reader.events.map(({ type }) => type))).toEqual(new Set(['message.completed']));
  });

  it.each([
    ['?after=', 'invalid_cursor', 'after'],
    ['?after=-1', 'invalid_cursor', 'after'],
    ['?after=01', 'invalid_cursor', 'after'],
    ['?after=9999999999', 'invalid_cursor', 'after'],
    ['?after=3', 'invalid_cursor', 'after'],
    ['?types=', 'invalid_query', 'types'],
    ['?types=task.completed,', 'invalid_query', 'types'],
    ['?types=task.deleted', 'invalid_query', 'types'],
    ['?types=nonsense.*', 'invalid_query', 'types'],
  ])('%s is 400 in both forms', async (query, code, param) => {
    const api = await createTask(member.client, { content: 'Held.' });
    const held = await model.asked();
    await member.client.post(`/v1/tasks/${api.id}/cancel`);
    // The last number of a cancelled task is above 3.
    const asked = query.replace('after=3', 'after=99');
    const { status, body } = await member.client.get<ErrorBody>(`/v1/tasks/${api.id}/events${asked}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
    expect((await stream(api.id, asked)).status).toBe(400);
    held.answer({ text: 'Late.' });
  });

  it('what is of the other form is 400', async () => {
    const id = await done({ text: 'Done.' });
    for (const query of ['wait=1', 'limit=5']) expect((await stream(id, `?${query}`)).status).toBe(400);
    for (const query of ['until=final', 'deltas=true', 'wait=31', 'limit=101']) {
      const { status, body } = await member.client.get<ErrorBody>(`/v1/tasks/${id}/events?${query}`);
      expect([query, status, body.error.param]).toEqual([query, 400, query.split('=')[0]]);
    }
    expect((await stream(id, '', { Accept: 'text/event-stream;q=0' })).headers['content-type']).toMatch(/json/);
  });

  it('`wait` answers when an event comes, and with nothing when the time is over', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await model.asked();
    await until('the run to begin', async () => (await json(id)).position === '4');
    const waits = json(id, '?after=4&wait=30');
    first.answer({ text: 'Done.' });
    expect((await waits).events[0]).toMatchObject({ seq: 5, type: 'message.completed' });
    await finished(member.client, id);
    expect(await json(id, '?after=latest&wait=1')).toEqual({ events: [], position: '6', caughtUp: true });
  });

  it('HEAD answers the headers and ends', async () => {
    const id = await done({ text: 'Done.' });
    const headers = { Accept: 'text/event-stream', Authorization: `Bearer ${member.key.secret}` };
    const answer = await fetch(`${service.url}/v1/tasks/${id}/events`, { method: 'HEAD', headers });
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      200,
      'text/event-stream',
      '',
    ]);
  });

  it('a heartbeat after 15 s without a frame moves the position past what is hidden', async () => {
    const id = await done({ text: 'Done.' });
    const reader = await stream(id, '?types=task.created');
    await reader.frame('stream.caught_up');
    await service.app.get(Streams).tick(performance.now() + 15_001);
    expect(await reader.frame('heartbeat')).toEqual({
      id: '6',
      data: { type: 'heartbeat', position: '6', status: 'completed' },
    });
  });

  it('a policy that changes counts for what is read after it', async () => {
    const hidden = await makeMember(service);
    const { id } = await createTask(hidden.client, { content: 'Begin.' });
    const first = await model.asked();
    const reader = await stream(id, '', {}, hidden);
    await reader.frame('stream.caught_up');
    expect(reader.types).toContain('message.completed');
    await service.db.query(`UPDATE workspaces SET transparency = '{tool_activity}' WHERE id = $1`, [
      hidden.workspace.id,
    ]);
    first.answer({ text: 'Secret.', ...bash('echo shown') });
    const second = await model.asked();
    second.answer({ text: 'Secret too.' });
    await reader.frame('task.completed');
    expect(JSON.stringify(reader.events)).not.toContain('Secret');
    expect(reader.types).toContain('tool.completed');
    expect(foldViews((await json(id, '', hidden)).events)).toEqual(await readMessages(hidden.client, id));
    expect(transparencyWith(['tool_activity']).text).toBe(false);
  });

  describe('end with the access', () => {
    const follow = async (role: 'member' | 'admin' = 'member') => {
      const other = await makeMember(service, { workspace: member.workspace, role });
      return { other, task: await createTask(other.client, { content: 'Begin.' }), held: await model.asked() };
    };

    /** A change of the task, of which the streams are told at once: nobody has looked at the access in between. */
    const change = async (id: string) => {
      await service.db.query(`UPDATE tasks SET metadata = '{"after": "all"}' WHERE id = $1`, [id]);
      service.app.get(Notices).send({ tasks: [id], workspace: member.workspace.id });
    };

    it.each([
      ['a revoked key', 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', 'unauthorized'],
      ['an expired key', 'UPDATE api_keys SET expires_at = now() WHERE id = $1', 'unauthorized'],
      ['a removed key', 'DELETE FROM api_keys WHERE id = $1', 'unauthorized'],
      ['a removed member', 'DELETE FROM memberships WHERE user_id = (SELECT user_id FROM api_keys WHERE id = $1)', 'unauthorized'],
      ['a lost task', `UPDATE tasks SET created_by = '$OWNER' WHERE created_by = (SELECT user_id FROM api_keys WHERE id = $1)`, 'gone'],
    ])('%s: what is committed after it is not sent, in neither form', async (_what, sql, reason) => {
      const { other, task, held } = await follow();
      const readers = [await stream(task.id, '?deltas=true', {}, other), await open(`${service.url}/v1/events`, other.key.secret)];
      await Promise.all(readers.map((reader) => reader.frame('stream.caught_up')));
      const waits = other.client.get(`/v1/tasks/${task.id}/events?after=latest&wait=30`);
      await until('the request to wait', () => service.app.get(Streams).size >= 3);
      // The stream of the workspace may tell of what is older only now: what comes after the last event of the task may not be told.
      const last = Number(readers[0]?.events.at(-1)?.seq);
      await service.db.query(sql.replace('$OWNER', member.user.id), [other.key.id]);
      await change(task.id);
      expect((await readers[0]?.end())?.data).toMatchObject({ type: 'stream.end', reason });
      expect((await waits).status).toBe(reason === 'gone' ? 404 : 401);
      held.answer({ text: 'Not seen.' });
      if (reason === 'unauthorized') await readers[1]?.end();
      const later = readers.flatMap(({ events }) => events).filter(({ taskId, seq }) => taskId === task.id && Number(seq) > last);
      expect(later).toEqual([]);
      expect(JSON.stringify(readers.map(({ frames }) => frames))).not.toContain('Not seen.');
    }); // prettier-ignore

    it('a deleted task, a task of another, a lost role', async () => {
      const { other, task, held } = await follow('admin');
      held.answer({ text: 'Done.' });
      await finished(other.client, task.id);
      const mine = await createTask(member.client, { content: 'Begin.' });
      (await model.asked()).answer({ text: 'Done.' });
      const [deleted, foreign] = [await stream(task.id, '', {}, other), await stream(mine.id, '', {}, other)];
      await Promise.all([deleted.frame('stream.caught_up'), foreign.frame('stream.caught_up')]);
      await other.client.delete(`/v1/tasks/${task.id}`);
      expect((await deleted.end())?.data).toMatchObject({ reason: 'gone' });
      await service.db.query(`UPDATE memberships SET role = 'member' WHERE user_id = $1`, [other.user.id]);
      expect((await foreign.end())?.data).toMatchObject({ reason: 'gone' });
      expect((await stream(mine.id, '', {}, other)).status).toBe(404);
    });
  });
});
