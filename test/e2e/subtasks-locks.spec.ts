// Who waits for whom when tasks of tasks end, are deleted and are resumed at the same time (reference §27.3).
import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { holding, holdingTask, untilWaiting } from '../harness/locks.js';
import { ModelServer } from '../harness/model-server.js';
import { bash, delegate, part, question, SubtaskBench } from '../harness/subtasks.js';
import { call } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { TaskPause } from '../../src/resources/tasks/task-pause.js';

describe('Tasks of tasks take locks in one order (reference §27.3)', () => {
  let model: ModelServer;
  let bench: SubtaskBench;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => {
    bench = new SubtaskBench(await makeMember(service, { role: 'owner' }));
  });
  afterAll(() => model.stop());

  /** A parent that waits for one that has a file, and asks. */
  const waitingOf = async () => {
    const steps = [bash('echo a > a.txt'), call('publish', { path: 'a.txt' }), question()];
    const id = await bench.begin([delegate(part('A', steps))]);
    const [{ id: a } = { id: '' }] = await bench.waiting(id, 1);
    await bench.asks(a);
    return { id, a };
  };
  /** The parent as a worker has it that writes a step, and the counter of files that this comes to. */
  const writing = async (id: string) => {
    await service.db.query(`UPDATE runs SET status = 'running', lease_until = now() + interval '1 hour' WHERE task_id = $1`, [id]); // prettier-ignore
    const held = await holding(service.db, 'SELECT 1 FROM runs WHERE task_id = $1 FOR UPDATE', [id]);
    const publish = () =>
      held.query('SELECT 1 FROM storage_usage WHERE workspace_id = $1 FOR UPDATE', [bench.member.workspace.id]);
    return { publish, release: () => held.release() };
  };

  it('one with files that is waited for is deleted while its parent publishes', async () => {
    const { id, a } = await waitingOf();
    const parent = await writing(id);
    const deleted = bench.client.delete(`/v1/tasks/${a}`);
    await untilWaiting(service.db, 'DELETE FROM tasks');
    await parent.publish();
    await parent.release();
    expect((await deleted).status).toBe(200);
    await bench.ask('cancel', id);
  });

  it('one ends whose folder has grown while its parent publishes', async () => {
    const { id, a } = await waitingOf();
    const parent = await writing(id);
    const END = `UPDATE tasks SET status = 'failed', workdir_bytes = workdir_bytes + 4096 WHERE id = $1`;
    const ended = holding(service.db, END, [a]);
    await untilWaiting(service.db, 'workdir_bytes + 4096');
    await parent.publish();
    await parent.release();
    await (await ended).release();
    await bench.ask('cancel', id);
  });

  it('the last one ends just when the time of the pause of its parent is over', async () => {
    const { id, a } = await waitingOf();
    await bench.ask('pause', id);
    await service.db.query(`UPDATE tasks SET paused = false, resumes_at = NULL WHERE id = $1`, [a]);
    const end = await holding(service.db, `UPDATE tasks SET status = 'failed' WHERE id = $1`, [a]);
    await service.db.query(`UPDATE tasks SET resumes_at = now() WHERE id = $1`, [id]);
    const looked = service.app.get(TaskPause, { strict: false }).wake();
    await until('the pause to be over', async () => {
      const [row] = await service.db.query<{ paused: boolean }>('SELECT paused FROM tasks WHERE id = $1', [id]);
      return row?.paused === false;
    });
    await end.release();
    await looked;
    const ended = await until('the parent to go on', async () => {
      const { status } = await bench.read(id);
      return status === 'completed' ? status : null;
    }, { within: 150_000 }); // prettier-ignore
    expect(ended).toBe('completed');
  });

  it('a tree is deleted while its creator is removed: whatever of it is open was made before what is final', async () => {
    const { workspace } = bench.member;
    const leaving = new SubtaskBench(await makeMember(service, { workspace }));
    const inner = delegate(part('C'));
    const id = await leaving.run([delegate(part('A', [inner])), delegate(part('B', [bash('true')]))]);
    const [{ id: a } = { id: '' }, { id: b } = { id: '' }] = await leaving.childrenOf(id.id);
    const [{ id: c } = { id: '' }] = await leaving.childrenOf(a);
    // Both work again: a message came. The task of the first one is older than the second one.
    expect(c < b).toBe(true);
    await service.db.query(`UPDATE tasks SET status = 'awaiting_input' WHERE id IN ($1, $2)`, [b, c]);
    const held = await holdingTask(service.db, c);
    const removed = bench.client.delete(`/v1/members/${leaving.member.user.id}`);
    await untilWaiting(service.db, 'FOR UPDATE');
    const deleted = bench.client.delete(`/v1/tasks/${id.id}`);
    await until('both to wait', async () => {
      const waits = await service.db.query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`); // prettier-ignore
      return waits.length === 2;
    });
    await held.release();
    expect([(await removed).status, (await deleted).status]).toEqual([200, 200]);
  });
});
