import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { readEvents } from '../harness/events.js';
import { holding, untilWaiting } from '../harness/locks.js';
import { ModelServer } from '../harness/model-server.js';
import { bash, type ChildTask, delegate, DONE, part, question, SubtaskBench, WAITING } from '../harness/subtasks.js';
import { readMessages } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('The life of tasks of tasks (reference §27)', () => {
  let model: ModelServer;
  let bench: SubtaskBench;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: { plans: { paid: { runningTasks: 100 } } },
    });
  });
  beforeAll(async () => {
    bench = new SubtaskBench(await makeMember(service, { role: 'owner' }));
  });
  afterAll(() => model.stop());

  /** A parent that waits for two: A, which asks, and B, which is done. */
  const waiting = async (more: object = {}) => {
    const id = await bench.begin([delegate(part('A', [question()]), part('B'))], more as Record<string, unknown>);
    const [a, b] = (await bench.waiting(id, 2)) as [ChildTask, ChildTask];
    await bench.asks(a.id);
    await bench.ended(b.id);
    return { id, a: a.id, b: b.id };
  };
  const status = async (id: string) => (await bench.read(id)).status;

  it('have what their parent has: creator, project, approvals, web, and its environment', async () => {
    const { body } = await bench.client.post<{ project: { id: string } }>('/v1/projects', { name: 'P' });
    const projectId = body.project.id;
    const id = await bench.begin([delegate(part('A', [question()]))], {
      projectId,
      approvals: 'secrets',
      web: false,
      whenBlocked: 'wait',
      tags: ['mine'],
    });
    const [a] = await bench.waiting(id, 1);
    const own = await bench.read(id);
    const same = { projectId, approvals: 'secrets', web: false, whenBlocked: 'wait', model: own['model' as 'id'] };
    expect(a).toMatchObject({ ...same, createdBy: own['createdBy' as 'id'], tags: [], parentTaskId: id });
    await bench.ask('cancel', id);
  });

  it('have no network where their parent has none, whatever began that', async () => {
    const inner = part('B', [delegate(part('C', [question()]))]);
    const id = await bench.begin([question(), delegate(inner)]);
    await bench.asks(id);
    // As of a task that an event began.
    const isolated = { isolated: true, automationRunId: null };
    await service.db.query('UPDATE tasks SET child_of = $2 WHERE id = $1', [id, JSON.stringify(isolated)]);
    await bench.answer(id);
    const [b = { id: '' }] = await bench.waiting(id, 1);
    const [c = { id: '' }] = await bench.waiting(b.id, 1);
    const query = 'SELECT child_of FROM tasks WHERE id IN ($1, $2)';
    expect(await service.db.query(query, [b.id, c.id])).toEqual([{ child_of: isolated }, { child_of: isolated }]);
    await bench.ask('cancel', id);
    const free = await bench.run([delegate(part('A'))]);
    const [a = { id: '' }] = await bench.childrenOf(free.id);
    expect(await service.db.query('SELECT child_of FROM tasks WHERE id = $1', [a.id])).toEqual([{ child_of: { ...isolated, isolated: false } }]); // prettier-ignore
  });

  it('a question of a child is its own, and the parent waits on', async () => {
    const { id, a } = await waiting();
    expect(await bench.read(id)).toMatchObject({ status: 'queued', pendingInteraction: null });
    expect(await bench.read(a)).toMatchObject({ status: 'awaiting_input', pendingInteraction: { question: 'Which?' } });
    const events = async (task: string) => (await readEvents(service.db, task)).map(({ type }) => type);
    expect(await events(a)).toContain('interaction.created');
    expect(await events(id)).not.toContain('interaction.created');
    await bench.answer(a);
    expect(await bench.ended(id)).toMatchObject({ status: 'completed' });
  });

  it.each(['fails', 'is cancelled', 'is deleted', 'is not answered in time'])(
    'goes on when the last child %s',
    async (how) => {
      const steps = how === 'is not answered in time' ? [question()] : [question(), { status: 400, times: 9 }];
      const id = await bench.begin([delegate(part('A', steps), part('B'))]);
      const [a = { id: '' }] = await bench.waiting(id, 2);
      await bench.asks(a.id);
      if (how === 'fails') await bench.answer(a.id);
      if (how === 'is cancelled') await bench.ask('cancel', a.id);
      if (how === 'is deleted') expect((await bench.client.delete(`/v1/tasks/${a.id}`)).status).toBe(200);
      if (how === 'is not answered in time')
        await service.db.query(`UPDATE interactions SET expires_at = now() WHERE task_id = $1`, [a.id]);
      expect(await bench.ended(id)).toMatchObject({ status: 'completed' });
      const ends = {
        fails: 'failed',
        'is cancelled': 'cancelled',
        'is deleted': 'gone',
        'is not answered in time': 'completed',
      };
      const told = await bench.told(id);
      expect(told.map((one) => one.status)).toEqual([ends[how as keyof typeof ends], 'completed']);
      if (how === 'is deleted') expect(told[0]).toEqual({ id: a.id, title: 'A', status: 'gone' });
    },
  );

  it('goes on in the transaction that ends the last child, before anybody looks', async () => {
    const runOf = async (task: string) =>
      (await service.db.query<{ status: string }>('SELECT status FROM runs WHERE task_id = $1', [task]))[0]?.status;
    for (const how of ['cancel', 'delete']) {
      const { id, a } = await waiting();
      expect(await runOf(id)).toBe('paused');
      if (how === 'cancel') await bench.ask('cancel', a);
      else expect((await bench.client.delete(`/v1/tasks/${a}`)).status).toBe(200);
      expect(await runOf(id)).not.toBe('paused');
      expect(await bench.ended(id)).toMatchObject({ status: 'completed' });
    }
  });

  it('of a member who is removed are cancelled with their parents', async () => {
    const { workspace } = bench.member;
    const leaving = new SubtaskBench(await makeMember(service, { workspace }));
    const id = await leaving.begin([delegate(part('A', [question()]))]);
    const [a = { id: '' }] = await leaving.waiting(id, 1);
    await leaving.asks(a.id);
    expect((await bench.client.delete(`/v1/members/${leaving.member.user.id}`)).status).toBe(200);
    for (const one of [id, a.id]) expect(await bench.read(one)).toMatchObject({ status: 'cancelled', statusReason: { code: 'owner_removed' } }); // prettier-ignore
  });

  it('interrupt goes on at once with what there is', async () => {
    const { id, a } = await waiting();
    await bench.send(id, 'Now.', { mode: 'interrupt' });
    expect(await bench.ended(id)).toMatchObject({ status: 'completed' });
    expect(await bench.told(id)).toMatchObject([{ status: 'awaiting_input', text: null }, { status: 'completed', text: 'B is done.' }]); // prettier-ignore
    expect((await readMessages(bench.client, id)).map(({ turn }) => turn)).toEqual([1, 1, 1, 1]);
    // The child is its own.
    await bench.answer(a);
    expect(await bench.ended(a)).toMatchObject({ status: 'completed' });
    expect(await status(id)).toBe('completed');
  });

  it('cancel goes down, two levels, and leaves what is final', async () => {
    const inner = part('B', [delegate(part('C', [question()]))]);
    const id = await bench.begin([delegate(part('A'), inner)]);
    const [a, b] = (await bench.waiting(id, 2)) as [ChildTask, ChildTask];
    const [c = { id: '' }] = await bench.waiting(b.id, 1);
    await bench.asks(c.id);
    await bench.ended(a.id);
    expect(await bench.ask('cancel', id)).toMatchObject({ status: 'cancelled' });
    expect(await Promise.all([a.id, b.id, c.id].map(status))).toEqual(['completed', 'cancelled', 'cancelled']);
    expect(await service.db.query(`SELECT 1 FROM task_children WHERE settled_at IS NULL AND parent_id IN ($1, $2)`, [id, b.id])).toEqual([]); // prettier-ignore
  });

  it('a child that is just ending is waited for, and its end stays', async () => {
    const { id, a } = await waiting();
    const ending = await holding(service.db, `UPDATE tasks SET status = 'failed' WHERE id = $1`, [a]);
    const cancelled = bench.ask('cancel', id);
    await untilWaiting(service.db, 'parent_task_id');
    await ending.release();
    expect(await cancelled).toMatchObject({ status: 'cancelled' });
    expect(await status(a)).toBe('failed');
  });

  it('pause goes down, and so does resume', async () => {
    const { id, a, b } = await waiting();
    expect(await bench.ask('pause', id)).toMatchObject({ status: 'queued', statusReason: { code: 'paused' } });
    expect(await bench.read(a)).toMatchObject({ statusReason: { code: 'paused' } });
    expect(await status(b)).toBe('completed');
    await bench.answer(a);
    expect(await bench.read(a)).toMatchObject({ status: 'queued', statusReason: { code: 'paused' } });
    expect(await bench.ask('resume', id)).toMatchObject({ status: 'queued', statusReason: WAITING });
    expect(await bench.ended(id)).toMatchObject({ status: 'completed' });
    expect(await status(a)).toBe('completed');
  });

  it('a parent that is paused alone goes on when it is resumed', async () => {
    const { id, a } = await waiting();
    await bench.ask('pause', id);
    await bench.ask('resume', a);
    await bench.answer(a);
    await bench.ended(a);
    expect(await bench.read(id)).toMatchObject({ status: 'queued', statusReason: { code: 'paused' } });
    await bench.ask('resume', id);
    expect(await bench.ended(id)).toMatchObject({ status: 'completed' });
  });

  it('delete goes down', async () => {
    const { id, a, b } = await waiting();
    expect((await bench.client.delete(`/v1/tasks/${id}`)).status).toBe(200);
    for (const one of [id, a, b]) expect((await bench.client.get(`/v1/tasks/${one}`)).status).toBe(404);
    const kept = await service.db.query(`SELECT 1 FROM folder_removals WHERE kind = 'workdir' AND id IN ($1, $2, $3)`, [
      id,
      a,
      b,
    ]);
    expect(kept.length).toBeLessThanOrEqual(3);
  });

  it('what nobody has woken is found by the look of each minute', async () => {
    const { id, a } = await waiting();
    // As if the end of the child had been lost on its way.
    await service.db.query('ALTER TABLE tasks DISABLE TRIGGER child_end');
    try {
      await bench.ask('cancel', a);
    } finally {
      await service.db.query('ALTER TABLE tasks ENABLE TRIGGER child_end');
    }
    await service.db.query(`UPDATE task_children SET settled_at = now() WHERE task_id = $1`, [a]);
    expect(await status(id)).toBe('queued');
    await bench.lookOf(service);
    expect(await bench.ended(id)).toMatchObject({ status: 'completed' });
  });

  it('without maxDurationSeconds a parent waits as long as it takes', async () => {
    const { id, a } = await waiting();
    await service.db.query(`UPDATE tasks SET waiting_since = now() - interval '10 days' WHERE id = $1`, [id]);
    await bench.lookOf(service);
    const released = await service.db.query('SELECT 1 FROM task_children WHERE parent_id = $1 AND released', [id]);
    expect(released).toEqual([]);
    await bench.ask('cancel', a);
    expect(await bench.ended(id)).toMatchObject({ status: 'completed' });
  });

  it('a list shows tasks that no other has made; those of one, or all, when it is asked for', async () => {
    const { id, a, b } = await waiting();
    const listed = async (query: string) => {
      const { body } = await bench.client.get<{ tasks: ChildTask[] }>(`/v1/tasks?limit=100${query}`);
      return body.tasks.map((task) => task.id);
    };
    const all = await listed('&parentTaskId=any');
    expect(all).toEqual(expect.arrayContaining([id, a, b]));
    const top = await listed('');
    expect(top).toContain(id);
    expect(top).not.toEqual(expect.arrayContaining([a]));
    expect((await listed(`&parentTaskId=${id}`)).sort()).toEqual([a, b].sort());
    expect(await listed('&parentTaskId=none')).toEqual([]);
    expect(await listed('&status=awaiting_input')).not.toContain(a);
    expect(await listed('&status=awaiting_input&parentTaskId=any')).toContain(a);
    expect(await listed('&status=queued')).toContain(id);
    await bench.ask('cancel', id);
  });

  it('task.created says whose they are', async () => {
    const { id, a } = await waiting();
    const created = async (task: string) =>
      (await readEvents(service.db, task)).find(({ type }) => type === 'task.created');
    expect(await created(a)).toMatchObject({ data: { parentTaskId: id, source: { type: 'task' } } });
    expect(await created(id)).toMatchObject({ data: { parentTaskId: null, source: { type: 'api' } } });
    await bench.ask('cancel', id);
  });

  it('a call is made once: a run that finds it open goes on with the tasks that there are', async () => {
    const id = await bench.begin([delegate(part('A', [question()]))]);
    const [a = { id: '' }] = await bench.waiting(id, 1);
    await bench.asks(a.id);
    // As a worker that was lost between the two writes leaves it.
    await service.db.query(`UPDATE runs SET status = 'queued' WHERE task_id = $1 AND status = 'paused'`, [id]);
    await until('it to wait again', async () => {
      const [run] = await service.db.query<{ epoch: number; status: string }>('SELECT epoch, status FROM runs WHERE task_id = $1', [id]); // prettier-ignore
      return run?.epoch === 2 && run.status === 'paused';
    });
    expect(await bench.childrenOf(id)).toHaveLength(1);
    await bench.answer(a.id);
    expect(await bench.ended(id)).toMatchObject({ status: 'completed', children: { tasks: 1 } });
  });

  it('calls of one step make their tasks one after the other, and what stands behind waits', async () => {
    const [one, two] = [delegate(part('A')), delegate(part('B'))];
    const calls = [...(one.calls ?? []), ...(two.calls ?? []), ...(bash('ls /tmp/tasks || true').calls ?? [])];
    const id = await bench.begin([{ calls }, DONE]);
    expect(await bench.ended(id)).toMatchObject({ status: 'completed', children: { tasks: 2 } });
    expect((await bench.results(id)).map(({ tasks }) => tasks.map(({ title }) => title))).toEqual(
      expect.arrayContaining([['A'], ['B']]),
    );
  });
});
