import { jest } from '@jest/globals';
import { Notices } from '../../src/platform/notices/notices.js';
import { bootWorker, useService } from '../harness/app.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { PauseBench, PAUSED } from '../harness/pauses.js';
import { newMark, processesGone, sleeps } from '../harness/processes.js';
import { slowIt } from '../harness/slow.js';
import { createTask, finished, readMessages, readResults } from '../harness/tasks.js';
import { until } from '../harness/until.js';

/** A command that ends when somebody makes the file `go`. */
const UNTIL_GO = 'until [ -e go ]; do sleep 0.05; done; echo went';

describe('A running task that is paused (reference §5)', () => {
  let model: HeldModel;
  let bench: PauseBench;

  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '12' },
      config: { plans: { paid: { runningTasks: 100 } } },
    });
  });
  beforeAll(async () => {
    bench = await PauseBench.make(service, model);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    expect(model.held).toEqual([]);
  });
  afterAll(() => model.server.stop());

  it('whose model is asked stops at once, and asks it the same again after the resume', async () => {
    const { id, first } = await bench.running();
    expect(await bench.pause(id)).toMatchObject({ status: 'running', statusReason: PAUSED });
    await bench.stopped(id);
    first.answer({ text: 'Nobody hears this.' });
    expect(await bench.read(id)).toMatchObject({ status: 'queued', statusReason: PAUSED, finishedAt: null });
    await bench.resume(id);
    const second = await bench.model.asked();
    expect(second.request.messages).toEqual(first.request.messages);
    second.answer({ text: 'Done.' });
    expect(await finished(bench.member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
    expect(await bench.statuses(id)).toEqual([
      'task.created',
      'task.running',
      'task.updated statusReason',
      'task.queued paused',
      'task.queued',
      'task.running',
      'task.completed',
    ]);
  });

  it('ends its call, and goes on behind it: no step is done twice', async () => {
    const { id, first } = await bench.running();
    first.answer(bash('echo one >> log.txt; sleep 1; echo went'));
    await until('the command to run', async () => (await readMessages(bench.member.client, id)).length === 2);
    await bench.pause(id);
    await bench.stopped(id);
    expect(await readResults(bench.member.client, id)).toMatchObject([{ status: 'success' }]);
    await bench.resume(id);
    const second = await bench.model.asked();
    expect(JSON.stringify(second.request.messages.at(-1))).toContain('went');
    second.answer(bash('cat log.txt'));
    const third = await bench.model.asked();
    expect(JSON.stringify(third.request.messages.at(-1)).match(/one/g)).toHaveLength(1);
    third.answer({ text: 'Done.' });
    expect(await finished(bench.member.client, id)).toMatchObject({ status: 'completed', usage: { steps: 3 } });
  });

  it('whose command takes longer is stopped, and the agent is told that it may have run partly', async () => {
    const mark = newMark();
    const { id, first } = await bench.running();
    first.answer(bash(`sleep ${mark}`));
    await sleeps(mark);
    const asked = Date.now();
    await bench.pause(id);
    await bench.stopped(id);
    // The command itself takes a thousand seconds.
    expect(Date.now() - asked).toBeLessThan(60_000);
    await processesGone(mark);
    await bench.resume(id);
    const second = await bench.model.asked();
    expect(JSON.stringify(second.request.messages.at(-1))).toContain('may have run partly');
    second.answer({ text: 'Done.' });
    expect(await finished(bench.member.client, id)).toMatchObject({ status: 'completed' });
  });

  it('is stopped by the next heartbeat when no notice reaches its worker', async () => {
    const { id } = await bench.running();
    jest.spyOn(service.app.get(Notices), 'send').mockImplementation(() => undefined);
    await bench.pause(id);
    await bench.stopped(id);
    jest.restoreAllMocks();
    await bench.resume(id);
    (await bench.model.asked()).answer({ text: 'Done.' });
    await finished(bench.member.client, id);
  });

  it('that is claimed at the moment of the pause is put aside before it begins', async () => {
    const claims = bench.claims;
    const claim = claims.claim.bind(claims);
    let id = '';
    jest.spyOn(claims, 'claim').mockImplementationOnce(async (...given) => {
      const run = await claim(...given);
      if (run !== null) await bench.pause((id = run.taskId));
      return run;
    });
    const created = await createTask(bench.member.client, { content: 'Begin.' });
    await until('the pause', () => id !== '');
    expect(id).toBe(created.id);
    await bench.stopped(id);
    await bench.resume(id);
    (await bench.model.asked()).answer({ text: 'Done.' });
    await finished(bench.member.client, id);
  });

  slowIt('that is resumed while it stops goes on', async () => {
    const { id, first } = await bench.running();
    first.answer(bash(UNTIL_GO));
    await until('the command to run', async () => (await readMessages(bench.member.client, id)).length === 2);
    await bench.pause(id);
    expect(await bench.resume(id)).toMatchObject({ status: 'running', statusReason: null });
    const second = await bench.model.asked();
    expect(JSON.stringify(second.request.messages.at(-1))).toContain('may have run partly');
    second.answer({ text: 'Done.' });
    expect(await finished(bench.member.client, id)).toMatchObject({ status: 'completed' });
  });

  it('that comes to its end meanwhile is completed, and not paused any more', async () => {
    const { id, first } = await bench.running();
    await service.db.query('UPDATE tasks SET paused = true, status_reason = $2 WHERE id = $1', [id, PAUSED]);
    first.answer({ text: 'Done.' });
    expect(await finished(bench.member.client, id)).toMatchObject({ status: 'completed', statusReason: null });
    expect((await bench.ask('resume', id)).body.error.code).toBe('task_not_pausable');
    await bench.send(id, 'Again.');
    (await bench.model.asked()).answer({ text: 'Again.' });
    await finished(bench.member.client, id);
  });

  it('whose turn ends while a message waits is paused before the next turn', async () => {
    const { id, first } = await bench.running();
    await bench.send(id, 'Then this.');
    await service.db.query('UPDATE tasks SET paused = true, status_reason = $2 WHERE id = $1', [id, PAUSED]);
    first.answer({ text: 'Done.' });
    await bench.stopped(id);
    expect(await bench.read(id)).toMatchObject({ status: 'queued', statusReason: PAUSED });
    await bench.resume(id);
    (await bench.model.asked()).answer({ text: 'Done.' });
    await finished(bench.member.client, id);
  });

  it('that a message interrupts while it stops stays paused; the message is read after the resume', async () => {
    const mark = newMark();
    const { id, first } = await bench.running();
    first.answer(bash(`sleep ${mark}`));
    await sleeps(mark);
    await bench.pause(id);
    await bench.send(id, 'Stop that.', { mode: 'interrupt' });
    expect(await bench.read(id)).toMatchObject({ status: 'queued', statusReason: PAUSED });
    await processesGone(mark, 2_000);
    expect((await bench.runsOf(id)).map(({ status }) => status)).toEqual(['finished', 'paused']);
    await bench.resume(id);
    const next = await bench.model.asked();
    expect(next.said).toEqual(['Begin.', 'Stop that.']);
    next.answer({ text: 'Done.' });
    await finished(bench.member.client, id);
  });

  slowIt('whose worker is lost while it stops stays paused', async () => {
    const { id, first } = await bench.running();
    await service.db.query('UPDATE tasks SET paused = true, status_reason = $2 WHERE id = $1', [id, PAUSED]);
    await service.db.query(`UPDATE runs SET lease_until = now() - interval '1 s' WHERE task_id = $1`, [id]);
    await bench.stopped(id);
    first.answer({ text: 'Nobody hears this.' });
    expect(await bench.read(id)).toMatchObject({ status: 'queued', statusReason: PAUSED });
    await bench.resume(id);
    (await bench.model.asked()).answer({ text: 'Done.' });
    await finished(bench.member.client, id);
  });
});
