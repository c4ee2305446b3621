import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SchedulerRegistry } from '@nestjs/schedule';
import { EngineSettings } from '../../src/engine/agent/engine-settings.js';
import { Reconciler } from '../../src/work/runs/reconciler.js';
import { RunExecutor } from '../../src/work/runs/run-executor.js';
import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { type Asked, bash, HeldModel } from '../harness/held-model.js';
import { ModelServer } from '../harness/model-server.js';
import { readEvents } from '../harness/events.js';
import { mostRunning, recordRunning } from '../harness/running.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { createTask, finished, reaches, readTask, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowDescribe } from '../harness/slow.js';

interface Waiting {
  waitingFor: { code: string; message: string; since: string } | null;
}

const QUESTION = { calls: [{ name: 'ask', arguments: { question: 'Which?' } }] };

/** The request about the task with this number. */
function ofTask(held: Asked[], number: number): Asked {
  const found = held.find(({ said }) => said[0] === `Task ${number}`);
  if (found === undefined) throw new Error(`Task ${number} is not held.`);
  return found;
}

describe('Running tasks per workspace are capped by plan (reference §5)', () => {
  let model: HeldModel;
  let member: Member;

  const service = useService(async () => {
    model = await HeldModel.start();
    const env = { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '600' };
    return bootWorker({ env, config: { plans: { paid: { runningTasks: 4 } } } });
  });
  beforeAll(async () => {
    await recordRunning(service.db);
    // Without its second's look the worker finds what waits by a signal or not at all.
    const registry = service.app.get(SchedulerRegistry, { strict: false });
    for (const name of registry.getIntervals()) registry.deleteInterval(name);
  });
  afterAll(() => model.server.stop());
  beforeEach(async () => {
    member = await makeMember(service, { plan: 'free' });
  });

  /** Resolves when the first of them run: of claims at the same moment any may win. */
  const create = async (count: number, running = 2) => {
    const { client } = member;
    const ids: string[] = [];
    for (let n = 1; n <= count; n++) {
      const { id } = await createTask(client, { content: `Task ${n}` });
      if (n <= running) await reaches(client, id, 'running');
      ids.push(id);
    }
    return ids;
  };
  const statuses = (ids: string[]) => Promise.all(ids.map(async (id) => (await readTask(member.client, id)).status));
  const answerNext = async (count: number) => {
    for (let n = 0; n < count; n++) (await model.asked()).answer({ text: 'Done.' });
  };
  const allComplete = async (ids: string[]) => {
    for (const id of ids) expect(await finished(member.client, id)).toMatchObject({ status: 'completed' });
  };
  const asked = async (count: number): Promise<Asked[]> => {
    const all: Asked[] = [];
    while (all.length < count) all.push(await model.asked());
    return all;
  };
  it('the rest stay queued, never 429, and each starts at once when one before it ends', async () => {
    const ids = await create(5);
    const [first, second] = await asked(2);
    expect(await statuses(ids)).toEqual(['running', 'running', 'queued', 'queued', 'queued']);
    first?.answer({ text: 'Done.' });
    second?.answer({ status: 400, body: '{}' });
    await answerNext(3);
    const ended = await Promise.all(ids.map((id) => finished(member.client, id)));
    expect(ended.filter(({ status }) => status === 'completed')).toHaveLength(4);
    expect(await mostRunning(service.db, member.workspace.id)).toBe(2);
  });

  it('a task that waits for a person does not count; answered, it waits for a place before tasks that have not begun', async () => {
    const [asking = '', ...others] = await create(4);
    const held = await asked(2);
    ofTask(held, 1).answer(QUESTION);
    const { pendingInteraction } = await reaches(member.client, asking, 'awaiting_input');
    const third = await model.asked();
    expect(third.said).toEqual(['Task 3']);
    const interaction = { interactionId: pendingInteraction?.id, content: 'This one.' };
    expect((await member.client.post(`/v1/tasks/${asking}/interaction`, interaction)).status).toBe(202);
    expect(await statuses([asking, ...others])).toEqual(['queued', 'running', 'running', 'queued']);
    ofTask(held, 2).answer({ text: 'Done.' });
    const next = await model.asked();
    expect(next.said).toEqual(['Task 1']);
    for (const { answer } of [third, next]) answer({ text: 'Done.' });
    await answerNext(1);
    await allComplete([asking, ...others]);
    expect(await mostRunning(service.db, member.workspace.id)).toBe(2);
  });

  it('a cancelled, deleted or interrupted task makes room at once', async () => {
    const [first = '', second = '', ...others] = await create(4);
    await asked(2);
    expect((await member.client.request('POST', `/v1/tasks/${first}/cancel`)).status).toBe(200);
    expect((await model.asked()).said).toEqual(['Task 3']);
    expect((await member.client.delete(`/v1/tasks/${second}`)).status).toBe(200);
    const fourth = await model.asked();
    expect(fourth.said).toEqual(['Task 4']);
    const interrupt = { content: 'Stop.', mode: 'interrupt' };
    expect((await member.client.post(`/v1/tasks/${others[0]}/messages`, interrupt)).status).toBe(202);
    const again = await model.asked();
    expect(again.said).toEqual(['Task 3', 'Stop.']);
    for (const { answer } of [fourth, again]) answer({ text: 'Done.' });
    await allComplete(others);
    expect(await mostRunning(service.db, member.workspace.id)).toBe(2);
  });

  it('of claims at the same moment as many win as there is room', async () => {
    const ids = await create(14);
    const held = await asked(2);
    const waiting = await service.db.query<{ id: string }>(
      `SELECT id FROM runs WHERE status = 'queued' AND workspace_id = $1`,
      [member.workspace.id],
    );
    expect(waiting).toHaveLength(12);
    const executor = service.app.get(RunExecutor, { strict: false });
    const claimAll = () => Promise.all(waiting.map(({ id }) => executor.execute(id)));
    await claimAll();
    expect(await mostRunning(service.db, member.workspace.id)).toBe(2);
    // Four of a paid one: room for two more. The claims before have opened all connections that these need.
    await service.db.query(`UPDATE workspaces SET plan = 'paid' WHERE id = $1`, [member.workspace.id]);
    await claimAll();
    expect(await mostRunning(service.db, member.workspace.id)).toBe(4);
    for (const { answer } of held) answer({ text: 'Done.' });
    await answerNext(12);
    await allComplete(ids);
  });

  it('a lower cap ends nothing: what runs goes on, and nothing starts until it is below the cap', async () => {
    member = await makeMember(service);
    const ids = await create(6, 4);
    const held = await asked(4);
    await service.db.query(`UPDATE workspaces SET plan = 'free' WHERE id = $1`, [member.workspace.id]);
    for (const place of [1, 2]) {
      ofTask(held, place).answer({ text: 'Done.' });
      await finished(member.client, ids[place - 1] ?? '');
    }
    expect(await statuses(ids)).toEqual(['completed', 'completed', 'running', 'running', 'queued', 'queued']);
    ofTask(held, 3).answer({ text: 'Done.' });
    const fifth = await model.asked();
    expect(await statuses(ids.slice(3))).toEqual(['running', 'running', 'queued']);
    for (const { answer } of [ofTask(held, 4), fifth]) answer({ text: 'Done.' });
    await answerNext(1);
    await allComplete(ids);
  });

  it('the cap holds when lost runs are recovered, and these go before new work', async () => {
    const ids = await create(4);
    const lost = await asked(2);
    await service.db.query(`UPDATE runs SET lease_until = now() - interval '1 second' WHERE status = 'running'`);
    service.app.get(Reconciler, { strict: false }).tick();
    const recovered = await asked(2);
    expect(recovered.map(({ said }) => said[0]).toSorted()).toEqual(['Task 1', 'Task 2']);
    expect(await statuses(ids)).toEqual(['running', 'running', 'queued', 'queued']);
    for (const { answer } of [...lost, ...recovered]) answer({ text: 'Done.' });
    await answerNext(2);
    await allComplete(ids);
    expect(await mostRunning(service.db, member.workspace.id)).toBe(2);
  });

  it('the task says what it waits for, once that lasts longer than two seconds, and its events say when that begins and ends', async () => {
    const settings = service.app.get(EngineSettings, { strict: false });
    const { waitToldMs } = settings;
    settings.waitToldMs = 1;
    const [first = '', second = '', queued = ''] = await create(3);
    const held = await asked(2);
    const waiting = async (id: string) => ((await readTask(member.client, id)) as TaskBody & Waiting).waitingFor;
    const toldOf = (id: string) => until('the wait to be told', () => waiting(id));
    const message = "The model 'default' has not begun to answer.";
    expect(await toldOf(first)).toEqual({ code: 'model', message, since: expect.stringMatching(/^\d{4}-.*Z$/) });
    await toldOf(second);

    await service.db.query(`UPDATE task_events SET created_at = '2026-01-02 03:04:05Z' WHERE task_id = $1`, [queued]);
    const place = { code: 'place', message: 'The task waits for a free place of a worker.' };
    expect(await waiting(queued)).toEqual({ ...place, since: '2026-01-02T03:04:05.000Z' });

    // A wait that is over is null again while the task runs; what nobody ends is forgotten with the status.
    settings.waitToldMs = waitToldMs;
    ofTask(held, 1).answer(bash('true'));
    const next = await model.asked();
    expect([await until('the wait to be over', async () => (await waiting(first)) === null), next.said]).toEqual([
      true,
      ['Task 1'],
    ]);
    const events = await readEvents(service.db, first);
    const told = { data: { changed: ['waitingFor'] } };
    expect(events.filter(({ type }) => type === 'task.updated')).toMatchObject([told, told]);
    expect((await member.client.post(`/v1/tasks/${second}/cancel`)).status).toBe(200);
    expect(await waiting(second)).toBeNull();
    for (const { answer } of [next, await model.asked()]) answer({ text: 'Done.' });
    await allComplete([first, queued]);
  });
});

// Each run is signalled to both workers, which claim at the same moment.
slowDescribe('The cap holds across worker processes (reference §5)', () => {
  const TASKS = 80;
  const folder = temporaryFolder();
  let db: TestDatabase;
  let model: ModelServer;
  let api: TestApp;
  const workers: ServiceProcess[] = [];
  let env: Record<string, string>;

  beforeAll(async () => {
    db = await createDatabase();
    await recordRunning(db);
    // Long enough for the cap to be reached, short enough for claims to collide.
    model = await ModelServer.start(() => ({ text: 'Done.', firstByteMs: 200 }));
    const path = join(folder.path, 'config.json');
    writeFileSync(path, JSON.stringify({ plans: { paid: { runningTasks: 7 } } }));
    const shared = {
      DATABASE_URL: db.url,
      DATA_DIR: folder.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      OPENAI_COMPATIBLE_URL: model.url,
      CONFIG_FILE: path,
    };
    api = await bootApp({ db, env: shared });
    env = { ...shared, ROLE: 'worker' };
  });
  afterAll(async () => {
    for (const worker of workers) await worker.end();
    await api.close();
    await db.drop();
    await model.stop();
    folder.remove();
  });

  it('under load: two of a free workspace, seven of a paid one, at no moment more; all complete', async () => {
    const free = await makeMember(api, { plan: 'free' });
    const paid = await makeMember(api);
    const create = async (count: number) => {
      for (let n = 0; n < count; n++) {
        for (const { client } of [free, paid]) await createTask(client, { content: `Task ${n}` });
      }
    };
    await create(TASKS / 2);
    for (let n = 0; n < 2; n++) workers.push(await ServiceProcess.spawn(env));
    await create(TASKS / 2);
    await until('all tasks to be completed', () => allCompleted(db), { within: 120_000, every: 100 });
    expect(await mostRunning(db, free.workspace.id)).toBe(2);
    expect(await mostRunning(db, paid.workspace.id)).toBe(7);
  });
});

async function allCompleted(db: TestDatabase): Promise<boolean> {
  const rows = await db.query<{ status: string }>('SELECT DISTINCT status FROM tasks');
  return rows.every(({ status }) => status === 'completed');
}
