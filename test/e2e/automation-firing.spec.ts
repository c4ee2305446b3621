// How automations fire by the clock, and what stands against it (reference §12).
import { type TestApp, useService, bootWorker } from '../harness/app.js';
import { makeDue, plan, type PlannedAutomation, readAutomation, runs, runsOf } from '../harness/automations.js';
import { makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { connect, deliver, github } from '../harness/hooks.js';
import { reaches, readMessages, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

let model: HeldModel;
let owner: Member;
const models = [{ id: 'held', provider: 'openai-compatible', model: 'held', default: true }];
const service: TestApp = useService(async () => {
  model = await HeldModel.start();
  const env = { OPENAI_COMPATIBLE_URL: model.server.url, OPENAI_COMPATIBLE_KEY: 'key' };
  return bootWorker({ env, config: { models } });
});
afterAll(() => model.server.stop());
beforeEach(async () => {
  owner = await makeMember(service);
});

// What a test that failed has left.
afterEach(() => {
  for (const one of model.held.splice(0)) one.answer({ text: 'Done.' });
});

const planned = (given: PlannedAutomation = {}, by = owner) => plan(service.db, by, given);
/** The runs of an automation, once there are so many. */
const fired = (id: string, count = 1) => runs(service.db, id, count);
/** The task of its last run; its model call is answered when the test says so. */
async function startedTask(id: string, count = 1) {
  const taskId = (await fired(id, count)).at(-1)?.taskId ?? '';
  return { taskId, asked: await model.asked() };
}

describe('an occurrence', () => {
  it('makes one run and one task, which acts as the owner and says where it comes from', async () => {
    const id = await planned({ content: 'Look after the build.' });
    const [run] = await fired(id);
    expect(run).toMatchObject({ triggerType: 'schedule', status: 'started', reason: null });
    const task = await readTask(owner.client, run?.taskId ?? '');
    expect(task).toMatchObject({
      createdBy: { id: owner.user.id },
      source: { type: 'automation', automationId: id, automationRunId: run?.id },
    });
    const [message] = await readMessages(owner.client, task.id);
    expect(message?.parts).toEqual([{ type: 'text', text: 'Look after the build.' }]);
    (await model.asked()).answer({ text: 'Done.' });
    await reaches(owner.client, task.id, 'completed');
    expect(await runsOf(service.db, id)).toHaveLength(1);
  });

  it('completes an automation that fires once, however late it is', async () => {
    const id = await planned({ dueIn: -40 * 86_400 });
    expect(await fired(id)).toMatchObject([{ status: 'started' }]);
    await until(
      'the automation to be completed',
      async () => (await readAutomation(service.db, id)).status === 'completed',
    );
    expect(await readAutomation(service.db, id)).toMatchObject({ nextRunAt: null });
    (await model.asked()).answer({ text: 'Done.' });
  });

  it('moves a schedule on from the time at which it was due', async () => {
    const id = await planned({ cron: '0 0 1 1 *' });
    await fired(id);
    const { status, nextRunAt } = await readAutomation(service.db, id);
    expect(status).toBe('active');
    expect(nextRunAt?.toISOString()).toMatch(/^\d{4}-01-01T00:00:00\.000Z$/);
    (await model.asked()).answer({ text: 'Done.' });
  });

  it('that has its run already makes no second one', async () => {
    const id = await planned({ cron: '0 0 1 1 *', overlap: 'allow' });
    const [run] = await fired(id);
    // As a process with a slow clock would plan it again.
    await service.db.query('UPDATE automations SET next_run_at = $2 WHERE id = $1', [id, run?.scheduledAt]);
    const moved = async () => ((await readAutomation(service.db, id)).nextRunAt ?? new Date(0)) > new Date();
    await until('the automation to be due next year', moved);
    expect(await runsOf(service.db, id)).toEqual([run]);
    (await model.asked()).answer({ text: 'Done.' });
  });

  it('is fired within a second of its time when it was written a moment before', async () => {
    const id = await planned({ dueIn: 0.3 });
    const [run] = await fired(id);
    const [row] = await service.db.query<{ late: number }>(
      'SELECT extract(epoch FROM created_at - scheduled_at)::float8 AS late FROM automation_runs WHERE id = $1',
      [run?.id],
    );
    expect(row?.late).toBeGreaterThanOrEqual(0);
    (await model.asked()).answer({ text: 'Done.' });
  });

  it('of a paused automation does not fire', async () => {
    const id = await planned({ cron: '* * * * *', dueIn: null });
    await service.db.query(
      `UPDATE automations SET status = 'paused', next_run_at = now() - interval '1 minute' WHERE id = $1`,
      [id],
    );
    const other = await planned();
    await fired(other);
    expect(await runsOf(service.db, id)).toEqual([]);
    (await model.asked()).answer({ text: 'Done.' });
  });
});

describe('after a time without a worker', () => {
  const HOUR = 3_600_000;

  it('the latest missed occurrence fires and the others are on record as skipped', async () => {
    const id = await planned({ cron: '0 * * * *', dueIn: null });
    const latest = Math.floor(Date.now() / HOUR) * HOUR;
    await makeDue(service.db, id, new Date(latest - 2 * HOUR));
    const found = await fired(id, 3);
    expect(found.map(({ status }) => status)).toEqual(['skipped', 'skipped', 'started']);
    expect(found[0]?.reason).toEqual({ code: 'missed', message: 'No worker ran at this time.' });
    const times = found.map(({ scheduledAt }) => scheduledAt?.getTime());
    expect(times).toEqual([latest - 2 * HOUR, latest - HOUR, latest]);
    (await model.asked()).answer({ text: 'Done.' });
  });

  it('nothing fires that is later than the window', async () => {
    // Each day at the hour after this one: the last time was 23 hours ago.
    const last = new Date(Math.floor(Date.now() / HOUR) * HOUR - 23 * HOUR);
    const id = await planned({ cron: `0 ${last.getUTCHours()} * * *`, dueIn: null });
    await makeDue(service.db, id, last);
    expect(await fired(id)).toMatchObject([{ status: 'skipped', reason: { code: 'missed' } }]);
  });
});

describe('while the task of the run before is queued or running', () => {
  it('overlap skip records the occurrence as skipped', async () => {
    const id = await planned({ cron: '0 0 1 1 *' });
    const { taskId, asked } = await startedTask(id);
    await makeDue(service.db, id);
    const [, second] = await fired(id, 2);
    expect(second).toMatchObject({ status: 'skipped', reason: { code: 'previous_running' }, taskId: null });
    asked.answer({ text: 'Done.' });
    await reaches(owner.client, taskId, 'completed');
    await makeDue(service.db, id);
    expect((await fired(id, 3))[2]).toMatchObject({ status: 'started' });
    (await model.asked()).answer({ text: 'Done.' });
  });

  it('overlap allow starts all', async () => {
    const id = await planned({ cron: '0 0 1 1 *', overlap: 'allow' });
    const first = await startedTask(id);
    await makeDue(service.db, id);
    const second = await startedTask(id, 2);
    expect(second.taskId).not.toBe(first.taskId);
    first.asked.answer({ text: 'Done.' });
    second.asked.answer({ text: 'Done.' });
  });

  it('a task that waits for a person does not count as running', async () => {
    const id = await planned({ cron: '0 0 1 1 *' });
    const { taskId, asked } = await startedTask(id);
    asked.answer({ calls: [{ name: 'ask', arguments: { question: 'Which one?' } }] });
    await reaches(owner.client, taskId, 'awaiting_input');
    await makeDue(service.db, id);
    expect((await fired(id, 2))[1]).toMatchObject({ status: 'started' });
    (await model.asked()).answer({ text: 'Done.' });
  });
});

describe('overlap queue', () => {
  const queued = () => planned({ cron: '0 0 1 1 *', overlap: 'queue' });

  it('lets one run wait, which starts when the task before it has ended', async () => {
    const id = await queued();
    const { taskId, asked } = await startedTask(id);
    await makeDue(service.db, id);
    expect((await fired(id, 2))[1]).toMatchObject({
      status: 'waiting',
      reason: { code: 'previous_running' },
      taskId: null,
    });
    await makeDue(service.db, id);
    expect((await fired(id, 3))[2]).toMatchObject({ status: 'skipped', reason: { code: 'other_waits' } });
    asked.answer({ text: 'Done.' });
    await reaches(owner.client, taskId, 'completed');
    (await model.asked()).answer({ text: 'Done.' });
    const [, second] = await runsOf(service.db, id);
    expect(second).toMatchObject({ status: 'started', reason: null });
    await reaches(owner.client, second?.taskId ?? '', 'completed');
  });

  it('a run by hand neither lets a run go that waits, nor hides the one that started after it', async () => {
    const id = await queued();
    const first = await startedTask(id);
    await makeDue(service.db, id);
    await fired(id, 2);
    await owner.client.post(`/v1/automations/${id}/run`);
    const byHand = await startedTask(id, 3);
    byHand.asked.answer({ text: 'Done.' });
    await reaches(owner.client, byHand.taskId, 'completed');
    await makeDue(service.db, id);
    expect((await fired(id, 4)).map(({ status }) => status)).toEqual(['started', 'waiting', 'started', 'skipped']);
    first.asked.answer({ text: 'Done.' });
    const second = await model.asked();
    await makeDue(service.db, id);
    expect((await fired(id, 5))[4]).toMatchObject({ status: 'waiting', reason: { code: 'previous_running' } });
    second.answer({ text: 'Done.' });
    (await model.asked()).answer({ text: 'Done.' });
  });

  it('an event that waits starts its run although the automation got a schedule meanwhile', async () => {
    const { id: connectionId, path, secret } = await connect(service, owner);
    const id = await planned({ triggerEvent: 'github.push', connectionId, overlap: 'queue' });
    await deliver(service, path, github(secret));
    const { asked } = await startedTask(id);
    await deliver(service, path, github(secret));
    expect((await fired(id, 2))[1]).toMatchObject({ status: 'waiting' });
    await owner.client.patch(`/v1/automations/${id}`, { cron: '0 0 1 1 *' });
    asked.answer({ text: 'Done.' });
    (await model.asked()).answer({ text: 'Done.' });
    expect(await runsOf(service.db, id)).toMatchObject([{ status: 'started' }, { status: 'started', reason: null }]);
    expect(await readAutomation(service.db, id)).toMatchObject({ status: 'active', pausedReason: null });
  });

  it('starts the run that waits when the task before it is deleted', async () => {
    const id = await queued();
    const { taskId } = await startedTask(id);
    await makeDue(service.db, id);
    await fired(id, 2);
    expect((await owner.client.delete(`/v1/tasks/${taskId}`)).status).toBe(200);
    const started = async () => (await runsOf(service.db, id))[1]?.status === 'started';
    await until('the run that waits to start', started);
    (await model.asked()).answer({ text: 'Done.' });
  });

  it('skips the run that waits when the automation is paused meanwhile', async () => {
    const id = await queued();
    const { asked } = await startedTask(id);
    await makeDue(service.db, id);
    await fired(id, 2);
    expect((await owner.client.post(`/v1/automations/${id}/pause`)).status).toBe(200);
    expect((await runsOf(service.db, id))[1]).toMatchObject({ status: 'skipped', reason: { code: 'paused' } });
    asked.answer({ text: 'Done.' });
  });
});

describe('failures in a row', () => {
  slowIt('the tenth failed task pauses the automation, a completed one before it begins the count anew', async () => {
    const id = await planned({ cron: '0 0 1 1 *' });
    const end = async (count: number, answer: { text: string } | { status: number }) => {
      const { taskId, asked } = await startedTask(id, count);
      asked.answer(answer);
      await reaches(owner.client, taskId, 'completed', 'failed');
      const counted = async () => (await readAutomation(service.db, id)).consecutiveFailures;
      const before = 'status' in answer ? count - 1 : 0;
      await until('the end to be counted', async () => (await counted()) === before);
      await makeDue(service.db, id);
    };
    await end(1, { text: 'Done.' });
    for (let n = 2; n <= 10; n++) await end(n, { status: 400 });
    const { asked } = await startedTask(id, 11);
    asked.answer({ status: 400 });
    await until('the automation to be paused', async () => (await readAutomation(service.db, id)).status === 'paused');
    expect(await readAutomation(service.db, id)).toMatchObject({
      pausedReason: { code: 'failures', message: '10 tasks of this automation have failed in a row.' },
      consecutiveFailures: 10,
      nextRunAt: null,
    });
  });
});

describe('the log of events', () => {
  it('has what became of each run, and each pause', async () => {
    const id = await planned({ cron: '0 0 1 1 *' });
    const { asked } = await startedTask(id);
    await makeDue(service.db, id);
    const [started, skipped] = await fired(id, 2);
    asked.answer({ text: 'Done.' });
    const told = await service.db.query<{ type: string; data: object }>(
      `SELECT type, data FROM workspace_events WHERE data->>'automationId' = $1 ORDER BY xid, id`,
      [id],
    );
    expect(told).toEqual([
      {
        type: 'automation.run_started',
        data: { automationId: id, runId: started?.id, taskId: started?.taskId, reason: null },
      },
      {
        type: 'automation.run_skipped',
        data: { automationId: id, runId: skipped?.id, taskId: null, reason: skipped?.reason },
      },
    ]);
  });
});
