import { Module } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { z } from 'zod';
import { RunExecutor } from '../../src/work/runs/run-executor.js';
import { AgentTool, Plugin, type ToolContext, type ToolOutcome } from '../../src/index.js';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { ModelServer, type Answer } from '../harness/model-server.js';
import { createTask, finished, reaches, readMessages, readResults, readTask, texts } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

/** Never ends by itself; repeatable, so that a worker that takes its call over is lost in it again. */
@Plugin(AgentTool, 'brood')
class BroodTool extends AgentTool {
  readonly name = 'brood';
  readonly description = 'Takes for ever.';
  readonly parameters = z.strictObject({});
  readonly repeatable = true;
  static begun = 0;

  execute(_input: object, { signal }: ToolContext): Promise<ToolOutcome> {
    BroodTool.begun += 1;
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  }
}

@Module({ providers: [BroodTool] })
class BroodModule {}

describe('Recovery (reference §5)', () => {
  let model: ModelServer;
  let member: Member;
  /** Lets the model answer the requests that it holds back. */
  let answerNow: (answer: Answer) => void;

  const service = useService(async () => {
    model = await ModelServer.start(() => new Promise((resolve) => (answerNow = resolve)));
    // A lease that does not run out by itself while a test looks.
    const env = { OPENAI_COMPATIBLE_URL: model.url, LEASE_SECONDS: '600' };
    return bootWorker({ env, imports: [BroodModule] });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.stop());

  const startHeld = async (content: string) => {
    const before = model.requests.length;
    const { id } = await createTask(member.client, { content });
    await until('the model to be asked', () => model.requests.length > before);
    return id;
  };
  const expire = (id: string) =>
    service.db.query(`UPDATE runs SET lease_until = now() - interval '1 second' WHERE task_id = $1`, [id]);
  const run = async (id: string) => {
    const [row] = await service.db.query<{ epoch: number; status: string; recovery_count: number }>(
      'SELECT epoch, status, recovery_count FROM runs WHERE task_id = $1',
      [id],
    );
    if (row === undefined) throw new Error('The task has no run.');
    return row;
  };

  it('a worker that has lost its run writes nothing more, however late it answers', async () => {
    const id = await startHeld('Fence me.');
    const release = answerNow;
    // As if another process had taken it over.
    await service.db.query('UPDATE runs SET epoch = epoch + 1 WHERE task_id = $1', [id]);
    const fenced = model.requests.length;
    release({ text: 'From the grave.' });
    await until('the late answer to be over', () => model.openRequests === 0);
    await expire(id);
    await until('the run to be taken over', () => model.requests.length > fenced);
    expect(await readTask(member.client, id)).toMatchObject({ status: 'running', messageCount: 1 });
    answerNow({ text: 'From the living.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', usage: { steps: 1 } });
    expect(texts(await readMessages(member.client, id))).toEqual(['From the living.']);
  });

  it('a signal that is doubled while the run is held starts nothing', async () => {
    const id = await startHeld('Once.');
    const release = answerNow;
    const [row] = await service.db.query<{ id: string }>('SELECT id FROM runs WHERE task_id = $1', [id]);
    const executor = service.app.get(RunExecutor, { strict: false });
    await Promise.all([1, 2, 3].map(() => executor.execute(row?.id ?? '')));
    expect(await run(id)).toMatchObject({ status: 'running', epoch: 1 });
    release({ text: 'Once.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', messageCount: 2 });
  });

  slowIt(
    'lost more than five times without a finished step between, a run fails as worker_lost; its open call is closed',
    async () => {
      const id = await startHeld('Poison.');
      const send = (content: string) => member.client.post(`/v1/tasks/${id}/messages`, { content });
      for (const content of ['One.', 'Two.']) expect((await send(content)).status).toBe(202);
      answerNow({ calls: [{ name: 'brood', arguments: {} }] });
      await until('the call to begin', () => BroodTool.begun === 1);
      for (let lost = 1; lost <= 5; lost++) {
        await expire(id);
        await until(`takeover ${lost}`, () => BroodTool.begun === lost + 1);
        expect(await run(id)).toMatchObject({ status: 'running', recovery_count: lost });
      }
      await expire(id);
      const task = await reaches(member.client, id, 'failed');
      expect(task.statusReason).toEqual({ code: 'worker_lost', message: expect.any(String), retryable: true });
      expect(task.finishedAt).toEqual(expect.any(String));
      expect(await run(id)).toMatchObject({ status: 'finished' });
      const error = expect.stringMatching(/may have run partly/);
      expect(await readResults(member.client, id)).toMatchObject([{ name: 'brood', status: 'error', error }]);
      const statuses = (await readMessages(member.client, id)).map(({ role, status }) => [role, status]);
      const unread = ['user', 'queued'];
      expect(statuses).toEqual([['user', 'complete'], unread, unread, ['assistant', 'complete']]);
      // What it left unread is read with the next message, in one turn.
      const asked = model.requests.length;
      await send('Three.');
      await until('the next turn', () => model.requests.length > asked);
      const said = model.requests
        .at(-1)
        ?.body.messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
      expect(said).toEqual(['Poison.', 'One.', 'Two.', 'Three.']);
      answerNow({ text: 'Better.' });
      expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Better.' } });
    },
  );

  slowIt('a finished step in between makes the count begin again', async () => {
    const id = await startHeld('Progress.');
    const lose = async (expected: number) => {
      const asked = model.requests.length;
      await expire(id);
      await until('the takeover', () => model.requests.length > asked);
      expect(await run(id)).toMatchObject({ status: 'running', recovery_count: expected });
    };
    for (let lost = 1; lost <= 5; lost++) await lose(lost);
    const asked = model.requests.length;
    answerNow({ calls: [{ name: 'todo', arguments: { items: [{ text: 'Go on.', status: 'pending' }] } }] });
    await until('the next step', () => model.requests.length > asked);
    for (let lost = 1; lost <= 5; lost++) await lose(lost);
    answerNow({ text: 'Done.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', usage: { steps: 2 } });
  });

  it('a recovered task is queued with statusReason recovered until another worker claims it', async () => {
    const id = await startHeld('Recover me.');
    const reasons = new Set<string>();
    // A trigger sees what is too short-lived to be polled.
    await service.db.query(`
      CREATE TABLE seen (status text, code text);
      CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO seen VALUES (NEW.status, NEW.status_reason->>'code'); RETURN NEW; END $$;
      CREATE TRIGGER see AFTER UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION see()`);
    const asked = model.requests.length;
    await expire(id);
    await until('the takeover', () => model.requests.length > asked);
    for (const row of await service.db.query<{ status: string; code: string | null }>('SELECT * FROM seen')) {
      reasons.add(`${row.status} ${row.code}`);
    }
    expect([...reasons]).toEqual(['queued recovered', 'running null']);
    answerNow({ text: 'Recovered.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', statusReason: null });
  });
});

describe('A task whose worker is lost while no other has a free place (reference §5)', () => {
  it('is queued, says that it was recovered, and goes on when a place is free', async () => {
    const model = await HeldModel.start();
    // The one place is held until the model answers: nothing else tells the lost worker.
    const env = { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '600', WORKER_CONCURRENCY: '1' };
    const service = await bootWorker({ env });
    const { client } = await makeMember(service);
    const { id } = await createTask(client, { content: 'Recover me.' });
    const lost = await model.asked();
    await service.db.query(`UPDATE runs SET lease_until = now() - interval '1 second' WHERE task_id = $1`, [id]);
    const task = await reaches(client, id, 'queued');
    const recovered = { code: 'recovered', message: expect.stringMatching(/\S.*\.$/), retryable: true };
    expect(task).toMatchObject({ statusReason: recovered, startedAt: expect.any(String), finishedAt: null });
    const { body } = await client.get<{ tasks: unknown[] }>('/v1/tasks?status=queued');
    expect(body.tasks).toEqual([task]);
    lost.answer({ text: 'From the grave.' });
    (await model.asked()).answer({ text: 'Recovered.' });
    const over = { status: 'completed', statusReason: null, result: { text: 'Recovered.' } };
    expect(await finished(client, id)).toMatchObject(over);
    await service.close();
    await model.server.stop();
  });
});

describe('A backlog that nobody rang for (reference §5)', () => {
  slowIt('is worked off place by place, not in one second for each worker full of runs', async () => {
    const places = 2;
    const tasks = 20;
    const api = await bootApp();
    const { client } = await makeMember(api);
    for (let n = 0; n < tasks; n++) await createTask(client, { content: 'Hello' });
    const worker = await bootWorker({ db: api.db, env: { ROLE: 'worker', WORKER_CONCURRENCY: String(places) } });
    // Without its look of each second: after the one at boot, only the end of a run makes it look again.
    const intervals = worker.app.get(SchedulerRegistry, { strict: false });
    for (const name of intervals.getIntervals()) intervals.deleteInterval(name);
    await until(
      'all of them to be over',
      async () => {
        const sql = `SELECT count(*)::int AS over FROM runs WHERE status = 'finished'`;
        return (await api.db.query<{ over: number }>(sql))[0]?.over === tasks;
      },
      { within: 25_000 },
    );
    await worker.close();
    await api.close();
  });
});
