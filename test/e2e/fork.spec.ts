import { randomUUID } from 'node:crypto';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { listingOf } from '../harness/folder-listing.js';
import { ModelServer } from '../harness/model-server.js';
import { call, createTask, finished, reaches, readMessages, runTask, script, type TaskBody } from '../harness/tasks.js';

const bash = (command: string) => call('bash', { command });
type Forked = TaskBody & { forkedFrom: { taskId: string; turn: number } | null };

/** The workspaces whose counters are not the sums of what they have, or that have folders on a machine which count nothing. */
const DRIFT = `
SELECT s.workspace_id FROM storage_usage s WHERE snapshot_bytes <> coalesce((
  SELECT sum(o.bytes) FROM snapshot_objects o
  WHERE o.workspace_id = s.workspace_id AND EXISTS (
    SELECT FROM snapshot_uses u WHERE u.workspace_id = o.workspace_id AND u.object = o.sha256)), 0)
OR stored_bytes <> coalesce((
  SELECT sum(size) FROM (SELECT DISTINCT sha256, size FROM files f WHERE f.workspace_id = s.workspace_id) b), 0)
OR workdir_bytes <> coalesce((SELECT sum(t.workdir_bytes) FROM tasks t WHERE t.workspace_id = s.workspace_id), 0)
OR EXISTS (SELECT FROM tasks t WHERE t.workspace_id = s.workspace_id AND t.workdir_bytes = 0 AND t.machine_id IS NOT NULL)`;

describe('A fork of a task (reference §5)', () => {
  let model: ModelServer;
  let who: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => (who = await makeMember(service, { role: 'owner' })));
  afterAll(() => model.stop());
  afterEach(async () => expect(await service.db.query(DRIFT)).toEqual([]));

  const say = async (taskId: string, ...turns: Parameters<typeof script>) => {
    await who.client.post(`/v1/tasks/${taskId}/messages`, { content: script(...turns) });
    return finished(who.client, taskId);
  };
  const ask = (taskId: string, body: object, { client } = who, key: string = randomUUID()) =>
    client.post<{ task: Forked } & ErrorBody>(`/v1/tasks/${taskId}/fork`, body, {
      headers: { 'Idempotency-Key': key },
    });
  const fork = async (taskId: string, body: object = {}) => {
    const answer = await ask(taskId, body);
    expect([answer.status, answer.body.error]).toEqual([201, undefined]);
    return answer.body.task;
  };
  const code = ({ status, body }: { status: number; body: ErrorBody }) => [status, body.error.code];
  /** What messages say, without what is each one's own. */
  const saidIn = async (taskId: string) =>
    JSON.parse(
      JSON.stringify(await readMessages(who.client, taskId), (key, value: unknown) =>
        ['id', 'fileId'].includes(key) ? undefined : value,
      ),
    ) as unknown[];

  it('has at each turn the folder, the conversation and the files of that turn', async () => {
    const { id } = await runTask(who.client, script(bash('echo 1 > a; mkdir b'), { text: 'One.' }));
    const at = [{ folder: await listingOf(service, id), said: await saidIn(id) }];
    for (const turn of [2, 3]) {
      const work = bash(`echo ${turn} >> a; echo ${turn} > b/${turn}; ln -s a l${turn}; echo ${turn} > ~/${turn}`);
      await say(id, work, call('publish', { path: `b/${turn}` }), { text: `Turn ${turn}.` });
      at.push({ folder: await listingOf(service, id), said: await saidIn(id) });
    }
    for (const [before, { folder, said }] of at.entries()) {
      const made = await fork(id, { turn: before + 1 });
      expect(made).toMatchObject({ status: 'completed', forkedFrom: { taskId: id, turn: before + 1 } });
      expect(made.usage).toMatchObject({ steps: 0, inputTokens: 0 });
      expect(made.messageCount).toBe(said.length);
      expect(await saidIn(made.id)).toEqual(said);
      const files = await who.client.get<{ files: { id: string }[] }>(`/v1/tasks/${made.id}/files`);
      expect(files.body.files).toHaveLength(before);
      expect(made.result?.fileIds).toHaveLength(before === 0 ? 0 : 1);
      await say(made.id, { text: 'Nothing to do.' });
      expect(await listingOf(service, made.id)).toEqual(folder);
    }
  });

  it('goes on with its content, three side by side, and the original as it was', async () => {
    const { id } = await runTask(who.client, script(bash('echo 0 > a'), { text: 'Done.' }));
    const contents = [1, 2, 3].map((n) => script(bash(`echo ${n} >> a; cat a`), { text: `Way ${n}.` }));
    const forks = await Promise.all(contents.map((content) => fork(id, { content, title: 'A way' })));
    for (const [index, { id: forkId, title, status }] of forks.entries()) {
      expect([title, status]).toEqual(['A way', 'queued']);
      expect(await finished(who.client, forkId)).toMatchObject({ result: { text: `Way ${index + 1}.` } });
      expect(await saidIn(forkId)).toContainEqual(
        expect.objectContaining({
          parts: expect.arrayContaining([
            expect.objectContaining({ output: expect.objectContaining({ stdout: `0\n${index + 1}\n` }) }),
          ]),
        }),
      );
    }
    expect(await listingOf(service, id)).toEqual(expect.arrayContaining([expect.stringContaining('2|1|a')]));
  });

  it('of a fork lives on when both originals are deleted', async () => {
    const { id } = await runTask(
      who.client,
      script(bash('echo zero > a'), call('publish', { path: 'a' }), { text: 'Done.' }),
    );
    const folder = await listingOf(service, id);
    const first = await fork(id);
    const second = await fork(first.id);
    expect(second.forkedFrom).toEqual({ taskId: first.id, turn: 1 });
    for (const gone of [id, first.id]) await who.client.delete(`/v1/tasks/${gone}`);
    await say(second.id, { text: 'Nothing to do.' });
    expect(await listingOf(service, second.id)).toEqual(folder);
    const [fileId] = second.result?.fileIds ?? [];
    const content = await who.client.get(`/v1/files/${fileId}/content`);
    expect([content.status, content.headers.get('content-length')]).toEqual([200, '5']);
  });

  it('of a running task has its last turn that has ended; before one has there is none', async () => {
    const { id } = await createTask(who.client, {
      content: script(bash('echo 0 > a'), call('ask', { question: 'Go on?' })),
    });
    await reaches(who.client, id, 'awaiting_input');
    expect(code(await ask(id, {}))).toEqual([400, 'invalid_field']);
    await who.client.post(`/v1/tasks/${id}/messages`, { content: script({ text: 'Done.' }) });
    await finished(who.client, id);
    await who.client.post(`/v1/tasks/${id}/messages`, { content: script(call('ask', { question: 'And now?' })) });
    await reaches(who.client, id, 'awaiting_input');
    expect(await fork(id)).toMatchObject({ forkedFrom: { taskId: id, turn: 1 }, status: 'completed' });
    for (const turn of [2, 9]) expect(code(await ask(id, { turn }))).toEqual([400, 'invalid_field']);
  });

  it('is 409 snapshot_gone when the snapshot of that turn is no more, and none is needed without a folder', async () => {
    const { id } = await runTask(who.client, script(bash('echo 0 > a'), { text: 'Done.' }));
    await say(id, { text: 'More.' });
    await service.db.query('DELETE FROM snapshots WHERE task_id = $1 AND turn = 1', [id]);
    expect(code(await ask(id, { turn: 1 }))).toEqual([409, 'snapshot_gone']);
    expect((await fork(id)).forkedFrom).toMatchObject({ turn: 2 });
    const talk = await runTask(who.client, script({ text: 'Hello.' }));
    expect(await fork(talk.id)).toMatchObject({ result: { text: 'Hello.' } });
  });

  it('is made once for one key, and of a task of another workspace never', async () => {
    const { id } = await runTask(who.client, script({ text: 'Hello.' }));
    const key = randomUUID();
    const [first, again] = [await ask(id, {}, who, key), await ask(id, {}, who, key)];
    expect([again.status, again.body.task.id]).toEqual([201, first.body.task.id]);
    expect(code(await ask(id, {}, await makeMember(service, { role: 'owner' })))).toEqual([404, 'not_found']);
  });
});
