import { type Message, toUIMessages } from '@millwright/sdk';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ALL_SHOWN } from '../harness/events.js';
import { HandOverModule } from '../harness/hand-over.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { type StreamReader, useStreams } from '../harness/streams.js';
import { call, createTask, finished, reaches } from '../harness/tasks.js';
import { common, recorded, UiReader, VERSIONS } from '../harness/ui-chats.js';
import { until } from '../harness/until.js';

describe('The turn under way as a UI message stream of the AI SDK (reference §17)', () => {
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

  const begin = async (who = member) => {
    const { id } = await createTask(who.client, { content: 'Begin.' });
    return { id, first: await model.asked() };
  };
  const stream = (id: string, query = '', who = member) =>
    open(`${service.url}/v1/tasks/${id}/events?format=ui-message-stream${query}`, who.key.secret);
  const readers = (id: string, who = member) =>
    VERSIONS.map((version) => UiReader.of(version, service.url, who.key.secret, id));
  /** Connects all three; what it resolves with gives their messages when the stream has ended. */
  const connected = async (id: string, who = member) => {
    const reads = await Promise.all(readers(id, who).map((reader) => reader.states()));
    return async () => {
      for (const read of reads) await read?.over;
      return reads.map((read) => read?.all.at(-1));
    };
  };
  /** What the list of messages amounts to for the AI SDK. */
  const listed = async (id: string, who = member) => {
    const { body } = await who.client.get<{ messages: Message[] }>(`/v1/tasks/${id}/messages?limit=100`);
    return toUIMessages(body.messages);
  };
  const lastListed = async (id: string, who = member) => common((await listed(id, who)).at(-1));
  const send = (id: string, content: string, more = {}) =>
    member.client.post(`/v1/tasks/${id}/messages`, { content, ...more });
  const types = (reader: StreamReader) => reader.frames.map(({ data }) => data.type);

  it('gives 5, 6 and 7 the message that the list has, whenever they come', async () => {
    const { id, first } = await begin();
    const early = await Promise.all(readers(id).map((reader) => reader.states()));
    first.answer({ reasoning: 'Let me see.', text: 'Two commands. 👍', ...bash('echo one', 'exit 3'), chunkMs: 5 });
    const second = await model.asked();
    const late = await Promise.all(readers(id).map((reader) => reader.states()));
    second.answer({ text: 'A list.', ...call('todo', { items: [{ text: 'All', status: 'done' }] }) });
    (await model.asked()).answer(call('hand_over', {}));
    (await model.asked()).answer({ ...call('bash', { nonsense: true }), text: 'An error.' });
    (await model.asked()).answer({ reasoning: 'Enough.', text: 'Done.', chunkMs: 5 });
    for (const read of [...early, ...late]) {
      await read?.over;
      expect(read?.all.at(-1)).toEqual(await lastListed(id));
    }
    const { parts, metadata } = await lastListed(id);
    const seen = new Set(parts.map(({ type, state }) => (type === 'dynamic-tool' ? String(state) : type)));
    expect(seen).toEqual(
      new Set(['step-start', 'reasoning', 'text', 'output-available', 'output-error', 'data-plan', 'source-url']),
    );
    expect(metadata).toEqual({ createdAt: expect.any(String) as string });
    expect(await Promise.all(readers(id).map((reader) => reader.states()))).toEqual([null, null, null]);
  });

  it('is a stream of its own kind: headers, comments, chunks without ids, `finish` and [DONE]', async () => {
    const { id, first } = await begin();
    const reader = await stream(id);
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'x-vercel-ai-ui-message-stream': 'v1',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    first.answer(bash('true'));
    (await model.asked()).answer({ text: 'Done.' });
    await reader.end();
    expect(reader.words).toEqual(['[DONE]']);
    expect(reader.frames.every((frame) => frame.id === undefined)).toBe(true);
    const told = types(reader).filter((type) => type !== 'data-status');
    expect(told.slice(0, 6)).toEqual(['start', 'start-step', 'message-metadata', 'tool-input-available', 'tool-output-available', 'finish-step']); // prettier-ignore
    expect(told.slice(-3)).toEqual(['text-end', 'finish-step', 'finish']);
    expect(reader.frames.at(-1)?.data).toEqual({ type: 'finish', finishReason: 'stop' });
    const headers = { Accept: 'text/event-stream', Authorization: `Bearer ${member.key.secret}` };
    const head = await fetch(`${service.url}/v1/tasks/${id}/events?format=ui-message-stream`, { method: 'HEAD', headers }); // prettier-ignore
    expect(head.status).toBe(204);
  });

  it('has words while they come; those of an attempt that is given up are marked', async () => {
    const { id, first } = await begin();
    const states = await Promise.all(readers(id).map((reader) => reader.states()));
    const quiet = await stream(id, '&deltas=false');
    first.answer({ text: 'Half of this answer is never said, as the model stops in it.', stall: true });
    const words = () => states.map((read) => read?.all.at(-1)?.parts.find(({ type }) => type === 'text')?.text ?? '');
    await until('all to have the words', () => words().every((text) => text !== ''));
    expect(new Set(words())).toEqual(new Set([words()[0]]));
    await member.client.post(`/v1/tasks/${id}/cancel`);
    for (const read of states) {
      await read?.over;
      expect(read?.all.at(-1)?.parts.map(({ type }) => type)).toEqual(['step-start', 'text', 'data-discarded']);
      expect(recorded(read?.all.at(-1))?.parts).toEqual([]);
    }
    await quiet.end();
    expect(types(quiet).filter((type) => type !== 'data-status')).toEqual(['start', 'finish']);
  });

  it('ends when it waits for a person, and is there again from its beginning when they have answered', async () => {
    const { id, first } = await begin();
    const before = await connected(id);
    first.answer({ text: 'One thing.', ...call('ask', { question: 'Which one?' }) });
    const asked = await reaches(member.client, id, 'awaiting_input');
    const interaction = { id: asked.pendingInteraction?.id, question: 'Which one?', outcome: null };
    for (const message of [...(await before()), await readers(id)[0]?.message()]) {
      expect(message?.parts.at(-1)).toMatchObject({ type: 'data-interaction', id: interaction.id, data: interaction });
      expect(recorded(message)).toEqual(await lastListed(id));
    }
    const half = await listed(id);
    const { pendingInteraction } = asked;
    await member.client.post(`/v1/tasks/${id}/interaction`, { interactionId: pendingInteraction?.id, content: 'That.' }); // prettier-ignore
    const second = await model.asked();
    // Version 5 goes on with what it has, so it is given what was before the turn.
    const chats = readers(id).map((reader, n) => reader.chat(n === 0 ? half.slice(0, -1) : half));
    await until('them to be connected', async () => {
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      return metrics.includes('millwright_event_streams 3');
    });
    second.answer({ text: 'Done.' });
    for (const chat of await Promise.all(chats)) {
      expect(chat).toHaveLength(2);
      expect(chat[1]?.parts.filter(({ type }) => type === 'data-interaction')).toMatchObject([
        { id: interaction.id, data: { ...interaction, outcome: 'answered' } },
      ]);
      expect([chat[0], recorded(chat[1])]).toEqual((await listed(id)).map(common));
    }
  });

  it.each(['queue', 'interrupt'])('ends with its turn although the next one follows at once (%s)', async (mode) => {
    const { id, first } = await begin();
    const [ends, slow] = [await stream(id), await stream(id, '&deltas=false')];
    if (mode === 'interrupt') {
      first.answer(bash('sleep 1000'));
      await ends.frame('tool-input-available');
    }
    await send(id, 'And this.', { mode });
    if (mode === 'queue') first.answer({ text: 'First.' });
    for (const reader of [ends, slow]) {
      await reader.end();
      expect(reader.words).toEqual(['[DONE]']);
    }
    const second = await model.asked();
    const next = await connected(id);
    second.answer({ text: 'Second.' });
    for (const message of await next()) {
      expect(message?.parts).toMatchObject([{ type: 'step-start' }, { type: 'text', text: 'Second.', state: 'done' }]);
    }
    await finished(member.client, id);
    expect(JSON.stringify(ends.frames)).not.toContain('Second.');
  });

  it('of a turn that was steered it is still one message', async () => {
    const { id, first } = await begin();
    const messages = await connected(id);
    await send(id, 'Rather so.', { mode: 'steer' });
    first.answer(bash('true'));
    (await model.asked()).answer({ text: 'So.' });
    for (const one of await messages()) {
      expect(one?.parts.map(({ type }) => type)).toEqual(['step-start', 'dynamic-tool', 'step-start', 'text']);
    }
  });

  it('shows what the policy shows', async () => {
    const hidden = await makeMember(service);
    await service.db.query(`UPDATE workspaces SET transparency = '{text}' WHERE id = $1`, [hidden.workspace.id]);
    const { id, first } = await begin(hidden);
    const messages = await connected(id, hidden);
    first.answer({ reasoning: 'Secret.', text: 'Said.', ...bash('echo secret'), chunkMs: 20 });
    (await model.asked()).answer({ text: 'Done.' });
    for (const one of await messages()) {
      expect(JSON.stringify(one)).not.toMatch(/secret/i);
      expect(one).toEqual(await lastListed(id, hidden));
    }
  });

  it('is a stream alone, of the turn alone; without a turn under way there is none', async () => {
    const { id, first } = await begin();
    const { status, body } = await member.client.get<ErrorBody>(`/v1/tasks/${id}/events?format=ui-message-stream`);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_query', 'format']);
    for (const query of ['&after=1', '&types=task.*', '&until=final', '&wait=1', '&deltas=some']) {
      expect([query, (await stream(id, query)).status]).toEqual([query, 400]);
    }
    expect((await open(`${service.url}/v1/tasks/${id}/events?format=other`, member.key.secret)).status).toBe(400);
    first.answer({ text: 'Done.' });
    await finished(member.client, id);
    const none = await stream(id);
    expect([none.status, none.frames]).toEqual([204, []]);
    const other = await makeMember(service);
    expect((await stream(id, '', other)).status).toBe(404);
  });

  it('ends without [DONE] when the access ends', async () => {
    const other = await makeMember(service, { workspace: member.workspace });
    const { id, first } = await begin(other);
    const reader = await stream(id, '', other);
    await reader.frame('data-status');
    await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [other.key.id]);
    await reader.end();
    expect([reader.words, reader.comments.at(-1)]).toEqual([[], 'unauthorized']);
    first.answer({ text: 'Done.' });
    await finished(other.client, id).catch(() => undefined);
  });
});

describe('toUIMessages (reference §19)', () => {
  it('makes one message of a turn, although others were sent in it', () => {
    const message = (id: string, role: 'user' | 'assistant', turn: number | null) =>
      ({ id, role, turn, createdAt: id, status: 'complete', createdBy: null, parts: [{ type: 'text', text: id }] }) as Message & { turn: number | null }; // prettier-ignore
    const messages = [message('1', 'user', 1), message('2', 'assistant', 1), message('3', 'user', 2), message('4', 'assistant', 1), message('5', 'assistant', 2)]; // prettier-ignore
    const made = toUIMessages(messages);
    expect(made.map(({ id, parts }) => [id, parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))])).toEqual([
      ['1', ['1']],
      ['2', ['2', '4']],
      ['3', ['3']],
      ['5', ['5']],
    ]); // prettier-ignore
  });
});
