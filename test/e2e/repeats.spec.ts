import { bootWorker, useService } from '../harness/app.js';
import { type Answer, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createDatabase, tablesWith, type TestDatabase } from '../harness/database.js';
import { postForm, upload } from '../harness/files.js';
import { ModelServer } from '../harness/model-server.js';
import { type Relay, relayTo } from '../harness/proxy.js';
import { call, createTask, finished, reaches, readMessages, readTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

// `idempotency.spec` has the rules, on a resource of its own; these are the operations that they are for.
describe('The same request again (reference §8)', () => {
  let db: TestDatabase;
  let relay: Relay;
  let model: ModelServer;
  let member: Member;
  /** Called when the service sends a COMMIT, before the database gets it. */
  let onCommit: (() => void) | null = null;

  const service = useService(async () => {
    db = await createDatabase();
    relay = await relayTo(db.url, 0, () => (chunk) => {
      if (chunk.includes('COMMIT')) onCommit?.();
    });
    model = await ModelServer.start();
    return bootWorker({ db: { ...db, url: relay.url }, env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  // Also after a test that failed while it held.
  afterEach(() => relay.release());
  afterAll(async () => {
    await relay.close();
    await model.stop();
    await db.drop();
  });

  const post = <T = ErrorBody>(path: string, json: unknown, key: string) =>
    member.client.request<T>('POST', path, { json, headers: { 'Idempotency-Key': key } });
  const expectReplay = (again: Answer<unknown>, first: Answer<unknown>) => {
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      first.status,
      first.text,
      'true',
    ]);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  };
  const filesOf = async (id: string) =>
    (await member.client.get<{ files: object[] }>(`/v1/tasks/${id}/files`)).body.files.length;

  it('creating a task: one task, one message, one file', async () => {
    const { id: uploadId } = await upload(service, member, 'x');
    const json = { content: 'Once.', attachments: [{ uploadId }] };
    const first = await post<{ task: { id: string } }>('/v1/tasks', json, 'create');
    const { id } = first.body.task;
    await finished(member.client, id);
    expectReplay(await post('/v1/tasks', json, 'create'), first);
    const { body } = await member.client.get<{ tasks: { id: string }[] }>('/v1/tasks');
    expect(body.tasks.map((task) => task.id)).toEqual([id]);
    expect([await filesOf(id), (await readTask(member.client, id)).messageCount]).toEqual([1, 2]);
  });

  it('sending a message: it is read once, and its files are made once', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    await finished(member.client, id);
    const { id: uploadId } = await upload(service, member, 'x');
    const path = `/v1/tasks/${id}/messages`;
    const json = { content: 'More.', attachments: [{ uploadId }] };
    const first = await post(path, json, 'send');
    expect(first.status).toBe(202);
    await finished(member.client, id);
    expectReplay(await post(path, json, 'send'), first);
    expect(await finished(member.client, id)).toMatchObject({ messageCount: 4, status: 'completed' });
    expect(await filesOf(id)).toBe(1);
    const other = await post(path, { ...json, content: 'Less.' }, 'send');
    expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_key_reused']);
  });

  it('answering a question: the first answer again, though the question waits no more', async () => {
    const { id } = await createTask(member.client, { content: script(call('ask', { question: 'Why?' })) });
    const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
    const path = `/v1/tasks/${id}/interaction`;
    const json = { interactionId: pendingInteraction?.id, content: 'Because.' };
    const first = await post(path, json, 'answer');
    expect(first.status).toBe(202);
    await finished(member.client, id);
    expectReplay(await post(path, json, 'answer'), first);
    const fresh = await post(path, json, 'another');
    expect([fresh.status, fresh.body.error.code]).toEqual([409, 'interaction_not_pending']);
    const results = (await readMessages(member.client, id)).flatMap(({ parts }) =>
      parts.filter((p) => p.type === 'tool_result'),
    );
    expect(results).toMatchObject([{ output: { content: 'Because.' } }]);
  });

  it('an upload does not use the key: it happens again', async () => {
    const ids = new Set<string>();
    for (let n = 0; n < 2; n++) {
      const form = new FormData();
      form.append('file', new Blob(['x']), 'a.txt');
      const answer = await postForm(service, member, form, undefined, { 'Idempotency-Key': 'upload' });
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null]);
      ids.add(((await answer.json()) as { upload: { id: string } }).upload.id);
    }
    expect(ids.size).toBe(2);
  });

  it('a cancel does not use the key: it happens again', async () => {
    const { id } = await createTask(member.client, { content: script({ hang: true }) });
    const cancel = () => post<{ task: { status: string } }>(`/v1/tasks/${id}/cancel`, undefined, 'cancel');
    expect((await cancel()).body.task.status).toBe('cancelled');
    await member.client.post(`/v1/tasks/${id}/messages`, { content: script({ hang: true }) });
    await reaches(member.client, id, 'running');
    const again = await cancel();
    expect([again.status, again.headers.get('idempotent-replayed'), again.body.task.status]).toEqual([
      200,
      null,
      'cancelled',
    ]);
    expect((await readTask(member.client, id)).status).toBe('cancelled');
  });

  /** A request of each kind that makes something, whose effect and key hold this text. */
  const requests: Record<string, (text: string) => Promise<[path: string, json: object]>> = {
    project: (text) => Promise.resolve(['/v1/projects', { name: text }]),
    task: (text) => Promise.resolve(['/v1/tasks', { title: text, content: 'Once.' }]),
    message: async (text) => {
      const { id } = await createTask(member.client, { content: 'Begin.' });
      await finished(member.client, id);
      return [`/v1/tasks/${id}/messages`, { content: text }];
    },
    answer: async (text) => {
      const { id } = await createTask(member.client, { content: script(call('ask', { question: 'Why?' })) });
      const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
      return [`/v1/tasks/${id}/interaction`, { interactionId: pendingInteraction?.id, content: text }];
    },
  };

  it.each([
    ['project', 201, 'projects'],
    ['task', 201, 'tasks'],
    ['message', 202, 'messages'],
    ['answer', 202, 'tool_invocations'],
  ])(
    'a %s is not answered before the commit: effect and record are in one transaction, and the %d waits for its end',
    async (kind, status, table) => {
      const text = `held-back-${kind}`;
      const [path, json] = (await requests[kind]?.(text)) ?? [];
      const held = new Promise<void>((resolve) => {
        onCommit = () => {
          onCommit = null;
          relay.hold();
          resolve();
        };
      });
      let answered = false;
      const answer = post(path ?? '', json, text).finally(() => (answered = true));
      await held;
      // Done, and seen by nobody: as good as never sent.
      await until('the transaction to stand before its commit', async () => {
        const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`;
        return (await db.query(sql)).length > 0;
      });
      for (let n = 0; n < 20; n++) expect((await member.client.as(null).get('/health/live')).status).toBe(200);
      expect([answered, await tablesWith(db, text)]).toEqual([false, []]);
      relay.release();
      expect((await answer).status).toBe(status);
      expect(await tablesWith(db, text)).toEqual(expect.arrayContaining(['idempotency_keys', table]));
    },
  );
});
