import { jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { Webhook as Sender } from 'standardwebhooks';
import {
  ConnectionError,
  fold,
  Millwright,
  MillwrightError,
  type TaskEvent,
  TimeoutError,
  toUIMessages,
  unwrap,
  WebhookVerificationError,
} from '@millwright/sdk';
import { TIMES } from '../../packages/sdk/src/follow.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ALL_SHOWN } from '../harness/events.js';
import { connect, deliver, github } from '../harness/hooks.js';
import { freePort } from '../harness/ports.js';
import { RUNBOOK } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

async function allOf<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of list) all.push(one);
  return all;
}

type Fetch = typeof globalThis.fetch;

describe('The SDK (reference §19)', () => {
  let member: Member;
  const service = useService(() => bootWorker({ config: { transparency: ALL_SHOWN } }));
  const times = { ...TIMES };
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterEach(() => Object.assign(TIMES, times));

  const client = (options: { fetch?: Fetch; maxRetries?: number; timeoutMs?: number } = {}) =>
    new Millwright({ apiKey: member.key.secret, baseUrl: service.url, ...options });
  const done = (content = '```bash\necho a\n```') => client().tasks.run({ content });
  const isStream = (init?: RequestInit) => new Headers(init?.headers).get('accept') === 'text/event-stream';

  it('runs a task: its events once and in order, its question answered, its file at the end', async () => {
    const mw = client();
    const file = await mw.uploads.create(new File(['b\na\n'], 'names.txt'));
    const events: TaskEvent[] = [];
    const task = await mw.tasks.run(
      { content: RUNBOOK, attachments: [{ uploadId: file.id }] },
      {
        onEvent: (event) => void events.push(event),
        onQuestion: ({ options }) => ({ optionIds: [options?.[0]?.id ?? ''] }),
      },
    );
    expect(task.status).toBe('completed');
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(await allOf(mw.tasks.history(task.id))).toEqual(events);
    const settled = await allOf(mw.tasks.history(task.id, { after: 2, types: ['interaction.*'] }));
    expect(settled.map(({ type }) => type)).toEqual(['interaction.created', 'interaction.settled']);
    const messages = await allOf(mw.tasks.messages(task.id));
    expect(fold(events)).toEqual(messages);
    expect(toUIMessages(messages).map(({ role }) => role)).toEqual(['user', 'assistant']);
    const published = (await allOf(mw.tasks.files(task.id))).find(({ origin }) => origin === 'task');
    expect(await (await mw.files.content(published?.id ?? '')).text()).toBe('a\nb\n');
    expect(await (await mw.tasks.filesArchive(task.id)).text()).toMatch(/^PK[^]*sorted\.txt[^]*a\nb\n/);
  });

  it('withdraws a message, which its events lose too; deletes what a project has left', async () => {
    const mw = client();
    const { id } = await mw.tasks.create({ content: RUNBOOK, approvals: 'writes' });
    const { message } = await mw.tasks.send(id, { content: 'Never mind.' });
    const outcome = await mw.tasks.withdraw(id, message.id).catch((error: unknown) => (error as MillwrightError).code);
    const messages = await allOf(mw.tasks.messages(id));
    // The task may have read it by then.
    expect(outcome).toEqual(
      messages.some((one) => one.id === message.id) ? 'message_already_read' : { deleted: true, id: message.id },
    );
    const { id: project } = await mw.projects.create({ name: 'P' });
    const file = await mw.projects.addFile(project, new File(['x'], 'x.txt'));
    await mw.projects.delete(project);
    expect((await allOf(mw.files.list({ project: 'none' }))).map((one) => one.id)).toEqual([file.id]);
    expect(await mw.files.delete(file.id)).toEqual({ deleted: true, id: file.id });
    const events = [
      { type: 'message.created', seq: 1, data: { message } },
      { type: 'message.withdrawn', seq: 2, data: { messageId: message.id } },
    ];
    expect([fold(events.slice(0, 1) as TaskEvent[]), fold(events as TaskEvent[])]).toEqual([[message], []]);
  });

  slowIt('a stream that is cut in the middle loses nothing and repeats nothing', async () => {
    TIMES.leastWait = 5;
    const { id } = await done();
    const whole = (await member.client.get<{ events: TaskEvent[] }>(`/v1/tasks/${id}/events`)).body.events;
    let streams = 0;
    // Each connection brings some bytes, more every time, and breaks off: within a frame too.
    const cutting: Fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!isStream(init) || response.body === null) return response;
      let left = 700 * ++streams;
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, out) {
          out.enqueue(chunk.slice(0, left));
          left -= chunk.length;
          if (left <= 0) out.error(new TypeError('terminated'));
        },
      });
      return new Response(response.body.pipeThrough(cut), response);
    };
    const seen: TaskEvent[] = [];
    for await (const event of client({ fetch: cutting }).tasks.events(id)) {
      seen.push(event);
      if (seen.length === whole.length) break;
    }
    expect(seen).toEqual(whole);
    expect(streams).toBeGreaterThan(2);
  });

  it('where nothing comes through a stream, it asks again and again', async () => {
    Object.assign(TIMES, { leastWait: 5, silence: 30, pollSeconds: 1 });
    let streams = 0;
    const mute: Fetch = async (input, init) => {
      if (!isStream(init)) return fetch(input, init);
      streams++;
      const body = new ReadableStream({
        start: (out) => init?.signal?.addEventListener('abort', () => out.error(init.signal?.reason)),
      });
      return Promise.resolve(new Response(body));
    };
    const task = await client({ fetch: mute }).tasks.run({ content: '```bash\necho a\n```' });
    expect([task.status, streams]).toEqual(['completed', 2]);
  });

  it('ends the following by a signal, and the task goes on', async () => {
    const stop = new AbortController();
    const onQuestion = () => stop.abort(new Error('left'));
    const { id } = await client().tasks.create({ content: RUNBOOK });
    const following = client().tasks.wait(id, { signal: stop.signal, onQuestion: () => void onQuestion() });
    await expect(following).rejects.toThrow('left');
    const task = await client().tasks.get(id);
    expect(task.status).toBe('awaiting_input');
    await client().tasks.cancel(id);
    expect((await client().tasks.wait(id)).status).toBe('cancelled');
  });

  it('resolves at once for a task that is over, and not by the end of an earlier turn', async () => {
    const { id } = await done();
    await client().tasks.send(id, { content: '```bash\necho second\n```' });
    const task = await client().tasks.wait(id);
    expect(task.result?.text).toContain('second');
    expect((await client().tasks.wait(id, { after: 'latest' })).status).toBe('completed');
  });

  it('throws when the task is deleted meanwhile, and for one that does not exist', async () => {
    const { id } = await done();
    const events = client().tasks.events(id, { after: 'latest' });
    const next = events.next();
    await client().tasks.delete(id);
    await expect(next).rejects.toMatchObject({ status: 404, code: 'not_found' });
    await expect(client().tasks.wait(id)).rejects.toMatchObject({ status: 404 });
  });

  it('a keyed request whose answer is lost is made again under the same key', async () => {
    let lost = 0;
    const losing: Fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method !== 'POST' || lost++ > 0) return response;
      await response.arrayBuffer();
      throw new TypeError('fetch failed');
    };
    const project = await client({ fetch: losing }).projects.create({ name: 'Once' });
    const all = await allOf(client().projects.list());
    expect(all.filter(({ name }) => name === 'Once').map(({ id }) => id)).toEqual([project.id]);
    lost = 0;
    const updating: Fetch = (input, init) =>
      init?.method === 'PATCH' && lost++ === 0 ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init);
    const change = client({ fetch: updating }).projects.update(project.id, { name: 'Twice' });
    await expect(change).rejects.toBeInstanceOf(ConnectionError);
  });

  it('a DELETE whose answer is lost has worked when it then finds nothing', async () => {
    const { id } = await client().projects.create({ name: 'Gone' });
    let lost = 0;
    const losing: Fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method !== 'DELETE' || lost++ > 0) return response;
      throw new TypeError('fetch failed');
    };
    expect(await client({ fetch: losing }).projects.delete(id)).toEqual({ deleted: true, id });
    await expect(client().projects.delete(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('says what is wrong by the class and the code of its error', async () => {
    const refused = client().tasks.get('x');
    await expect(refused).rejects.toBeInstanceOf(MillwrightError);
    await expect(refused).rejects.toMatchObject({ status: 404, type: 'not_found', retryable: false, param: null });
    const nobody = new Millwright({ apiKey: 'x', baseUrl: `http://127.0.0.1:${await freePort()}`, maxRetries: 0 });
    await expect(nobody.models.list()).rejects.toBeInstanceOf(ConnectionError);
    const never: Fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
      });
    const slow = client({ fetch: never, timeoutMs: 20, maxRetries: 1 });
    await expect(slow.models.list()).rejects.toBeInstanceOf(TimeoutError);
  });

  it('walks through a list over all its pages, or gives one', async () => {
    for (const name of ['one', 'two', 'three']) await client().projects.create({ name });
    const list = client().projects.list({ limit: 2 });
    const names = (await allOf(list)).map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(['three', 'two', 'one']);
    const { items, nextCursor } = await list.page();
    expect(items.map(({ name }) => name)).toEqual(['three', 'two']);
    expect((await list.page(nextCursor ?? '')).items[0]?.name).toBe('one');
  });

  it('tries out an automation and makes none, and lists what an integration was sent', async () => {
    const { id, secret } = await connect(service, member);
    await deliver(service, `/hooks/${id}`, github(secret ?? ''));
    const mw = client();
    const body = { name: 'A', content: 'x', triggerEvent: 'github.push', filter: "ref == 'main'" };
    const { wouldRun, automation } = await mw.automations.rehearse({ ...body, samplePayload: { ref: 'main' } });
    expect([wouldRun, automation.id]).toEqual([true, null]);
    expect(await allOf(mw.automations.list())).toEqual([]);
    expect(await mw.integrations.deliveries('github')).toMatchObject([{ verdict: 'no_automation' }]);
  });

  it('follows the workspace from a position on', async () => {
    const seen = client().events({ types: ['task.completed'] });
    let told: unknown;
    void seen.next().then(({ value }) => (told = value));
    const made: string[] = [];
    // It begins when it is connected: tasks are made until one is told of.
    await until('an event', async () => {
      made.push((await done()).id);
      return told;
    });
    expect(told).toMatchObject({ type: 'task.completed' });
    expect(made).toContain((told as { taskId: string }).taskId);
    await seen.return();
  });
});

describe('webhooks.unwrap (reference §18, §19)', () => {
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const other = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
  const body = JSON.stringify({ id: 't-1', type: 'task.completed', timestamp: '2026-01-01T00:00:00.000Z', data: {} });
  const signed = (at = new Date(), by = secret) => ({
    'webhook-id': 't-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Sender(by).sign('t-1', at, body),
  });

  it('takes what one of the secrets has signed, from either kind of headers', async () => {
    expect((await unwrap(body, signed(), secret)).type).toBe('task.completed');
    expect((await unwrap(Buffer.from(body), new Headers(signed()), [other, secret])).id).toBe('t-1');
  });

  it.each([
    ['another secret', body, signed(new Date(), other)],
    ['another body', `${body} `, signed()],
    ['a timestamp of long ago', body, signed(new Date(Date.now() - 400_000))],
    ['a timestamp of the future', body, signed(new Date(Date.now() + 400_000))],
    ['no signature', body, { ...signed(), 'webhook-signature': '' }],
    ['a signature that is none', body, { ...signed(), 'webhook-signature': 'v1,%%%' }],
  ])('refuses %s', async (_title, raw, headers) => {
    await expect(unwrap(raw, headers, secret)).rejects.toBeInstanceOf(WebhookVerificationError);
  });

  // The same as those of the Python client.
  const vectors = JSON.parse(readFileSync(new URL('../fixtures/webhooks/unwrap.json', import.meta.url), 'utf8')) as {
    now: number;
    cases: { title: string; body: string; headers: Record<string, string>; secrets: string[]; toleranceSeconds?: number; event?: object; refused?: string }[];
  }; // prettier-ignore
  it.each(vectors.cases)('decides by its vectors: $title', async ({ body: raw, headers, secrets, event, refused, ...options }) => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(vectors.now * 1000);
    const outcome = await unwrap(raw, headers, secrets, options).catch((error: unknown) => (error as Error).message);
    clock.mockRestore();
    expect(outcome).toEqual(event ?? expect.stringContaining(refused ?? 'refused'));
  }); // prettier-ignore
});
