import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { HeldModel } from '../harness/held-model.js';
import { recordStatuses, statusesOf } from '../harness/statuses.js';
import { createTask, finished, reaches, readTask } from '../harness/tasks.js';
import { SLOW, sizedDescribe, slowIt } from '../harness/slow.js';

/** Of a task before a message is read. */
const ENDS = SLOW ? ['cancelled', 'failed'] : ['failed'];

describe('Workers that come and go (reference §5)', () => {
  let db: TestDatabase;
  let model: HeldModel;
  let member: Member;
  const workers: TestApp[] = [];

  const api = useService(async () => {
    model = await HeldModel.start();
    db = await createDatabase();
    return bootApp({ db, env: { OPENAI_COMPATIBLE_URL: model.server.url } });
  });
  beforeAll(async () => {
    await recordStatuses(db);
    member = await makeMember(api);
  });
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.close();
  });
  afterAll(async () => {
    await model.server.stop();
    await db.drop();
  });

  const startWorker = async (env: Record<string, string> = {}): Promise<TestApp> => {
    const worker = await bootWorker({ db, env: { ROLE: 'worker', OPENAI_COMPATIBLE_URL: model.server.url, ...env } });
    workers.push(worker);
    return worker;
  };
  const stop = async (worker: TestApp) => {
    workers.splice(workers.indexOf(worker), 1);
    await worker.close();
  };
  const send = async (id: string, content: string) => {
    expect((await member.client.post(`/v1/tasks/${id}/messages`, { content })).status).toBe(202);
  };
  const runsOf = (id: string) =>
    db.query('SELECT status, claimed_at IS NOT NULL AS claimed FROM runs WHERE task_id = $1 ORDER BY created_at', [id]);
  /** Runs a task on a worker of its own, and stops that worker while the model is asked. */
  const handedBack = async (): Promise<string> => {
    const worker = await startWorker();
    const { id } = await createTask(member.client, { content: 'Begin.' });
    await reaches(member.client, id, 'running');
    await model.asked();
    await stop(worker);
    return id;
  };

  it('a task stays queued until a worker claims it', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    expect(await readTask(member.client, id)).toMatchObject({ status: 'queued', startedAt: null });
    await startWorker();
    (await model.asked()).answer({ text: 'Done.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', startedAt: expect.any(String) });
  });

  it('cancelled before any worker came: never claimed; its first message is read with the next one', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    expect((await member.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
    expect(await readTask(member.client, id)).toMatchObject({ status: 'cancelled', startedAt: null });
    expect(await runsOf(id)).toEqual([{ status: 'cancelled', claimed: false }]);
    await send(id, 'Go on.');
    await startWorker();
    const { said, answer } = await model.asked();
    expect(said).toEqual(['Begin.', 'Go on.']);
    answer({ text: 'Done.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', messageCount: 3 });
    expect(await runsOf(id)).toEqual([
      { status: 'cancelled', claimed: false },
      { status: 'finished', claimed: true },
    ]);
    expect(await statusesOf(db, id)).toEqual(['queued', 'cancelled: cancelled', 'queued', 'running', 'completed']);
  });

  sizedDescribe.each(ENDS)('%s with a message unread, and then sent two more', (status) => {
    const left = async (): Promise<string> => {
      const worker = await startWorker();
      const { id } = await createTask(member.client, { content: 'Begin.' });
      const { answer } = await model.asked();
      await send(id, 'One.');
      if (status === 'cancelled') await member.client.post(`/v1/tasks/${id}/cancel`);
      answer({ status: 400 });
      await reaches(member.client, id, status);
      await stop(worker);
      for (const content of ['Two.', 'Three.']) await send(id, content);
      return id;
    };

    it('reads the first of them with what was unread; the second waits its turn, whenever a worker comes', async () => {
      const id = await left();
      await startWorker();
      const first = await model.asked();
      expect(first.said).toEqual(['Begin.', 'One.', 'Two.']);
      first.answer({ text: 'Two, then.' });
      const second = await model.asked();
      expect(second.said).toEqual(['Begin.', 'One.', 'Two.', 'Three.']);
      second.answer({ text: 'Three, then.' });
      expect(await finished(member.client, id)).toMatchObject({ status: 'completed', messageCount: 6 });
    });

    slowIt('reads all that waits when it was set going by a version that did not note by which of them', async () => {
      const id = await left();
      await db.query('UPDATE tasks SET read_upto = NULL WHERE id = $1', [id]);
      await startWorker();
      const { said, answer } = await model.asked();
      expect(said).toEqual(['Begin.', 'One.', 'Two.', 'Three.']);
      answer({ text: 'All, then.' });
      expect(await finished(member.client, id)).toMatchObject({ status: 'completed', messageCount: 5 });
    }); // prettier-ignore
  });

  slowIt('running, the worker is told to stop: queued, and that is no recovery', async () => {
    const id = await handedBack();
    expect(await readTask(member.client, id)).toMatchObject({ status: 'queued', statusReason: null });
    expect(await db.query('SELECT recovery_count FROM runs WHERE task_id = $1', [id])).toEqual([{ recovery_count: 0 }]);
    await startWorker();
    (await model.asked()).answer({ text: 'Went on.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Went on.' } });
    expect(await statusesOf(db, id)).toEqual(['queued', 'running', 'queued', 'running', 'completed']);
  });

  slowIt.each([
    ['queued', async () => (await createTask(member.client, { content: 'Begin.' })).id],
    ['running', handedBack],
  ])('%s, and its model is gone: failed, with that code', async (_status, begun) => {
    const id = await begun();
    await startWorker({ OPENAI_COMPATIBLE_MODEL: 'another' });
    const reason = { code: 'model_not_available', message: expect.stringContaining('default'), retryable: false };
    expect(await finished(member.client, id)).toMatchObject({ status: 'failed', statusReason: reason });
  });
});
