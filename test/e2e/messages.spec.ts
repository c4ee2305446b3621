import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import {
  call,
  createTask,
  finished,
  type MessageBody,
  reaches,
  readMessages,
  readTask,
  runTask,
  script,
  type TaskBody,
  texts,
} from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface Sent {
  message: MessageBody;
  task: TaskBody;
}

describe('Messages (reference §5 and §6)', () => {
  let model: ModelServer;
  let member: Member;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterEach(() => {
    model.script = byMarkers;
  });
  afterAll(() => model.stop());

  const send = async (id: string, body: unknown) => {
    const answer = await member.client.post<Sent>(`/v1/tasks/${id}/messages`, body);
    expect(answer.status).toBe(202);
    return answer.body;
  };

  it('a message to a final task sets the same task going again, with its history', async () => {
    const first = await runTask(member.client, script({ text: 'First answer.' }));
    const { message, task } = await send(first.id, { content: script({ text: 'Second answer.' }) });
    expect(message).toEqual({
      id: expect.any(String),
      role: 'user',
      createdAt: expect.any(String),
      status: 'queued',
      turn: null,
      readAt: null,
      createdBy: { id: member.user.id, name: expect.any(String) },
      parts: [{ type: 'text', text: script({ text: 'Second answer.' }) }],
    });
    expect(task).toMatchObject({ id: first.id, status: 'queued', result: null, finishedAt: null, statusReason: null });
    const again = await finished(member.client, first.id);
    expect(again).toMatchObject({
      status: 'completed',
      result: { text: 'Second answer.' },
      startedAt: first.startedAt,
    });
    expect(again.usage['inputTokens']).toBe(2 * (first.usage['inputTokens'] ?? 0));
    expect(texts(await readMessages(member.client, first.id))).toEqual(['First answer.', 'Second answer.']);
    const asked = model.requests.at(-1)?.body.messages.map(({ role }) => role);
    expect(asked).toEqual(['system', 'user', 'assistant', 'user']);
  });

  it('messages sent while a turn runs wait their turn, first in first out, one turn each', async () => {
    let answer: (() => void) | undefined;
    const bothAreSent = new Promise<void>((resolve) => (answer = resolve));
    model.script = (...asked) => bothAreSent.then(() => byMarkers(...asked));
    const { id } = await createTask(member.client, { content: script({ text: 'A' }) });
    await reaches(member.client, id, 'running');
    const one = await send(id, { content: script({ text: 'B' }) });
    const two = await send(id, { content: script({ text: 'C' }), mode: 'queue' });
    answer?.();
    expect([one.message.status, one.task.status, two.message.status]).toEqual(['queued', 'running', 'queued']);
    const all = await until('three answers', async () => {
      const messages = await readMessages(member.client, id);
      return texts(messages).length === 3 ? messages : null;
    });
    expect(texts(all)).toEqual(['A', 'B', 'C']);
    expect(all.every(({ status }) => status === 'complete')).toBe(true);
    expect(all.map(({ role, turn, readAt }) => [role, turn, readAt === null]).sort()).toEqual(
      [1, 2, 3].flatMap((turn) => [['assistant', turn, true], ['user', turn, false]]).sort(), // prettier-ignore
    );
    expect((await finished(member.client, id)).messageCount).toBe(6);
    const last = model.requests.at(-1)?.body.messages.map(({ role }) => role);
    expect(last).toEqual(['system', 'user', 'assistant', 'user', 'assistant', 'user']);
  });

  it('those unread at a cancel are read together with the next one', async () => {
    const { id } = await createTask(member.client, { content: script({ hang: true }) });
    await reaches(member.client, id, 'running');
    await send(id, { content: 'unread one' });
    await send(id, { content: 'unread two' });
    expect((await member.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
    await send(id, { content: script({ text: 'Read all.' }) });
    const task = await finished(member.client, id);
    expect(task).toMatchObject({ status: 'completed', result: { text: 'Read all.' } });
    const texts_ = model.requests
      .at(-1)
      ?.body.messages.filter(({ role }) => role === 'user')
      .map(({ content }) => JSON.stringify(content));
    expect(texts_?.slice(1).map((text) => /unread one|unread two|Read all/.exec(text)?.[0])).toEqual([
      'unread one',
      'unread two',
      'Read all',
    ]);
  });

  it('a message to a waiting task answers its question and is read next', async () => {
    const { id } = await createTask(member.client, {
      content: script(call('ask', { question: 'Which?' }), { text: 'Thanks.' }),
    });
    await reaches(member.client, id, 'awaiting_input');
    const { message, task } = await send(id, { content: script({ text: 'Thanks for blue.' }) });
    expect([message.status, task.status, task.pendingInteraction]).toEqual(['complete', 'queued', null]);
    expect(await finished(member.client, id)).toMatchObject({
      status: 'completed',
      result: { text: 'Thanks for blue.' },
    });
    const results = (await readMessages(member.client, id)).flatMap(({ parts }) =>
      parts.filter((p) => p.type === 'tool_result'),
    );
    expect(results).toEqual([
      expect.objectContaining({
        name: 'ask',
        status: 'success',
        output: { content: expect.stringContaining('SCRIPT'), options: [], files: [] },
      }),
    ]);
  });

  it('a message to a task that waits for a choice cancels the choice and is read next', async () => {
    const options = [
      { id: 'a', label: 'A' },
      { id: 'b', label: 'B' },
    ];
    const { id } = await createTask(member.client, { content: script(call('ask', { question: 'Which?', options })) });
    await reaches(member.client, id, 'awaiting_input');
    await send(id, { content: script({ text: 'Neither, then.' }) });
    expect(await finished(member.client, id)).toMatchObject({ result: { text: 'Neither, then.' } });
    const results = (await readMessages(member.client, id)).flatMap(({ parts }) =>
      parts.filter((p) => p.type === 'tool_result'),
    );
    expect(results).toEqual([expect.objectContaining({ name: 'ask', status: 'error', error: expect.any(String) })]);
  });

  it.each<[unknown, string, string | null]>([
    [{}, 'invalid_field', 'content'],
    [{ content: '' }, 'invalid_field', 'content'],
    [{ content: 'x', mode: 'shout' }, 'invalid_field', 'mode'],
    [{ content: 'x', role: 'assistant' }, 'unknown_field', 'role'],
    [{ content: 'x', attachments: [{ uploadId: 'none' }] }, 'invalid_upload', 'attachments[0].uploadId'],
  ])('the body %j is 400 and adds no message', async (body, code, param) => {
    const { id } = await runTask(member.client, 'Hello.');
    const answer = await member.client.post<ErrorBody>(`/v1/tasks/${id}/messages`, body);
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([400, code, param]);
    expect(await readTask(member.client, id)).toMatchObject({ status: 'completed', messageCount: 2 });
  });

  it('a message to a task of someone else is 404', async () => {
    const other = await makeMember(service);
    const { id } = await runTask(member.client, 'Hello.');
    const answer = await other.client.post<ErrorBody>(`/v1/tasks/${id}/messages`, { content: 'Hi.' });
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
  });

  it('pages are oldest first, newest with order=desc, and after= gives only what came later', async () => {
    const steps = Array.from({ length: 5 }, (_, n) => ({
      text: `Step ${n}`,
      ...call('todo', { items: [{ text: `${n}`, status: 'pending' }] }),
    }));
    const { id } = await runTask(member.client, script(...steps, { text: 'End' }));
    const all = await readMessages(member.client, id);
    expect(all).toHaveLength(7);
    const walk = async (query: string) => {
      const found: string[] = [];
      for (let cursor = ''; ;) {
        const path = `/v1/tasks/${id}/messages?limit=3${query}${cursor}`;
        const { body } = await member.client.get<{ messages: MessageBody[]; nextCursor: string | null }>(path);
        found.push(...body.messages.map((message) => message.id));
        if (body.nextCursor === null) return found;
        cursor = `&cursor=${body.nextCursor}`;
      }
    };
    const ids = all.map((message) => message.id);
    expect(await walk('')).toEqual(ids);
    expect(await walk('&order=desc')).toEqual(ids.toReversed());
    expect(await walk(`&after=${ids[2]}`)).toEqual(ids.slice(3));
    expect(await walk(`&after=${ids[2]}&order=desc`)).toEqual(ids.slice(3).reverse());
    expect((await readMessages(member.client, id, `?after=${ids[6]}`)).length).toBe(0);
    const elsewhere = (await runTask(member.client, 'Another task.')).id;
    const [foreign] = await readMessages(member.client, elsewhere);
    for (const after of [crypto.randomUUID(), foreign?.id, 'x', '']) {
      const { status, body } = await member.client.get<ErrorBody>(`/v1/tasks/${id}/messages?after=${after}`);
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_query', 'after']);
    }
  });

  it('reasoning is on by default; data and files are not, and a message without exposed parts is omitted', async () => {
    const { id } = await runTask(member.client, script({ reasoning: 'I think.', text: 'I say.' }));
    const [, answer] = await readMessages(member.client, id);
    expect(answer?.parts).toEqual([
      { type: 'reasoning', text: 'I think.' },
      { type: 'text', text: 'I say.' },
    ]);
  });

  it('a model that says NUL and lone surrogates does not break the record', async () => {
    const { id } = await runTask(
      member.client,
      script({ text: 'a\u0000b\ud800c', ...call('bash', { command: 'printf "x\\0y"' }) }, { text: 'Done.' }),
    );
    const [, step] = await readMessages(member.client, id);
    expect(step?.parts[0]).toEqual({ type: 'text', text: 'a\ufffdb\ufffdc' });
  });
});
