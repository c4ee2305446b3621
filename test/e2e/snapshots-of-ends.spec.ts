import { EngineSettings } from '../../src/engine/agent/engine-settings.js';
import { RunExecutor } from '../../src/work/runs/run-executor.js';
import { bootWorker, useService } from '../harness/app.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { PauseBench } from '../harness/pauses.js';
import { createTask, finished } from '../harness/tasks.js';

describe('The snapshot at the end of a run (reference §22)', () => {
  let model: HeldModel;
  let bench: PauseBench;
  const service = useService(async () => {
    model = await HeldModel.start();
    // A model that refuses its key is left alone for a while, so each of those tests has its own.
    const models = ['main', 'refusing', 'refusing-too'].map((id) => ({
      id,
      provider: 'openai-compatible',
      baseUrl: model.server.url,
    }));
    return bootWorker({ config: { models } });
  });
  beforeAll(async () => {
    bench = await PauseBench.make(service, model);
    service.app.get(EngineSettings, { strict: false }).attempts = 1;
  });
  afterAll(() => model.server.stop());

  const rows = (taskId: string) =>
    service.db.query<{ turn: number; step: number }>(
      'SELECT turn, step FROM snapshots WHERE task_id = $1 ORDER BY created_at, id',
      [taskId],
    );
  /** A task that has changed its folder, and whose model is asked for its second step. */
  const working = async (more: object = {}) => {
    const { id } = await createTask(bench.member.client, { content: 'Begin.', model: 'main', ...more });
    (await model.asked()).answer(bash('echo one > a'));
    return { id, second: await model.asked() };
  };
  const contentOf = async (id: string) =>
    (await bench.member.client.get(`/v1/tasks/${id}/workdir/content?path=a`)).text;

  it('is taken when a pause stops it, and is replaced by that of the same turn after the resume', async () => {
    const { id } = await working();
    await bench.pause(id);
    await bench.stopped(id);
    expect(await rows(id)).toEqual([{ turn: 1, step: 1 }]);
    expect(await contentOf(id)).toBe('one\n');
    await bench.resume(id);
    (await model.asked()).answer(bash('echo two > a'));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(bench.member.client, id);
    expect(await rows(id)).toEqual([{ turn: 1, step: 3 }]);
    expect(await contentOf(id)).toBe('two\n');
  });

  it('is taken when the task fails', async () => {
    const { id, second } = await working({ model: 'refusing' });
    second.answer({ status: 401 });
    expect((await finished(bench.member.client, id)).status).toBe('failed');
    expect(await rows(id)).toEqual([{ turn: 1, step: 1 }]);
  });

  it('is taken once when the task waits for what blocks it', async () => {
    const { id, second } = await working({ model: 'refusing-too', whenBlocked: 'wait' });
    second.answer({ status: 401 });
    await bench.stopped(id);
    expect(await rows(id)).toEqual([{ turn: 1, step: 1 }]);
  });

  // The last one: this worker takes no run up any more.
  it('is taken when a worker that stops hands it over', async () => {
    const { id } = await working();
    await service.app.get(RunExecutor, { strict: false }).beforeApplicationShutdown();
    expect((await bench.read(id)).status).toBe('queued');
    expect(await rows(id)).toEqual([{ turn: 1, step: 1 }]);
    expect(await contentOf(id)).toBe('one\n');
  });
});
