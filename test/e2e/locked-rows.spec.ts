// A stopped process, or one that removes a member, may hold the rows of many tasks for seconds.
import { bootWorker, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type Asked, HeldModel } from '../harness/held-model.js';
import { CLAIM_BEGINS, type Holder, holding, holdingTask, untilWaiting, waiting } from '../harness/locks.js';
import { createTask, finished, reaches } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

const LEASE_SECONDS = 6;
/** More than a worker has connections to record with. */
const LOCKED = 24;

describe('While somebody has locked the rows of tasks', () => {
  let model: HeldModel;
  let service: TestApp;
  let member: Member;
  let holder: Holder | null = null;

  beforeAll(async () => {
    model = await HeldModel.start();
  });
  beforeEach(() => {
    model.held.length = 0;
  });
  afterEach(async () => {
    await holder?.release();
    holder = null;
    await service.close();
  });
  afterAll(() => model.server.stop());

  const start = async (env: Record<string, string> = {}) => {
    service = await bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: String(LEASE_SECONDS), ...env },
      config: { plans: { paid: { runningTasks: 100 } } },
    });
    member = await makeMember(service);
  };

  const asked = async (): Promise<{ id: string; request: Asked }> => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    return { id, request: await model.asked() };
  };

  const holdingTasks = (ids: string[]) =>
    holding(service.db, 'SELECT 1 FROM tasks WHERE id = ANY ($1) FOR UPDATE', [ids]);

  const run = async (id: string) => {
    const [row] = await service.db.query<{ epoch: number; recovery_count: number; left: number }>(
      'SELECT epoch, recovery_count, extract(epoch FROM lease_until - now())::float8 AS left FROM runs WHERE task_id = $1',
      [id],
    );
    return row;
  };

  slowIt('the runs of a worker that cannot record keep their leases; the others are recorded meanwhile', async () => {
    await start({ WORKER_CONCURRENCY: String(2 * LOCKED) });
    const [free, kept] = [await asked(), await asked()];
    const locked: Awaited<ReturnType<typeof asked>>[] = [];
    for (let n = 0; n < LOCKED; n++) locked.push(await asked());
    holder = await holdingTasks(locked.map(({ id }) => id));
    const began = Date.now();
    for (const { request } of locked) request.answer({ text: 'Done.' });
    await until('every connection that records to wait', async () => (await waiting(service.db)).length === 10);
    free.request.answer({ text: 'Done.' });
    const done = async ({ id }: { id: string }) => {
      expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
      expect(await run(id)).toMatchObject({ epoch: 1, recovery_count: 0 });
    };
    await done(free);
    // By then a worker that renews nothing has fenced itself, and its leases have run out.
    await until('the other one to be renewed after the length of a lease', async () => {
      const { left = 0 } = (await run(kept.id)) ?? {};
      return Date.now() - began > LEASE_SECONDS * 1000 && left > LEASE_SECONDS / 3;
    });
    await holder.release();
    holder = null;
    kept.request.answer({ text: 'Done.' });
    for (const one of [kept, ...locked]) await done(one);
  });

  slowIt('the run of a dead worker is recovered and claimed, though claims of others wait', async () => {
    await start({ ROLE: 'api' });
    const { db } = service;
    const worker = () =>
      bootWorker({
        db,
        env: { ROLE: 'worker', OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: String(LEASE_SECONDS) },
      });
    const dead = await worker();
    const { id } = await asked();
    await db.query('UPDATE runs SET epoch = epoch + 1');
    await dead.close();
    const locked: string[] = [];
    for (let n = 0; n < LOCKED; n++) locked.push((await createTask(member.client, { content: 'Wait.' })).id);
    holder = await holdingTasks(locked);
    const other = await worker();
    await until('claims to wait', async () => (await waiting(db)).some((sql) => sql.includes(CLAIM_BEGINS)));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    // Taken from the dead one, recovered, claimed.
    expect(await run(id)).toMatchObject({ epoch: 4 });
    await other.close();
  });

  it('a claim that the worker has given up is not carried out later, for nobody', async () => {
    await start({ WORKER_CONCURRENCY: '1' });
    const first = await asked();
    const { id } = await createTask(member.client, { content: 'Begin.' });
    holder = await holdingTask(service.db, id);
    first.request.answer({ text: 'Done.' });
    await untilWaiting(service.db, CLAIM_BEGINS);
    await until('the claim to wait no more', async () => (await waiting(service.db)).length === 0);
    await holder.release();
    holder = null;
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    expect(await run(id)).toMatchObject({ epoch: 1, recovery_count: 0 });
  });

  slowIt('a request without a key waits two seconds for its task at most, and gets 503', async () => {
    await start();
    const { id, request } = await asked();
    holder = await holdingTask(service.db, id);
    const { status, headers, body } = await member.client.request('POST', `/v1/tasks/${id}/cancel`);
    expect({ status, body }).toMatchObject({ status: 503, body: { error: { code: 'unavailable', retryable: true } } });
    expect(headers.get('Retry-After')).toBe('1');
    await holder.release();
    holder = null;
    request.answer({ text: 'Done.' });
    await reaches(member.client, id, 'completed');
  });
});
