// What happens to tasks of tasks and their parents at the same time (reference §27.3).
import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { holding, holdingTask, untilWaiting } from '../harness/locks.js';
import { ModelServer } from '../harness/model-server.js';
import { delegate, part, question, SubtaskBench, WAITING } from '../harness/subtasks.js';
import { until } from '../harness/until.js';

describe('Tasks of tasks at the same time (reference §27.3)', () => {
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

  const rowOf = async (id: string) =>
    (await service.db.query<{ paused: boolean; waiting: boolean; createdBy: string; status: string; reason: string | null }>(
      `SELECT paused, waiting_since IS NOT NULL AS waiting, created_by AS "createdBy", status, status_reason ->> 'code' AS reason FROM tasks WHERE id = $1`, [id]))[0]; // prettier-ignore
  /** A parent that waits for one that asks. */
  const waitingOf = async (of: SubtaskBench, more: Record<string, unknown> = {}) => {
    const id = await of.begin([delegate(part('A', [question()]))], more);
    const [a = { id: '' }] = await of.waiting(id, 1);
    await of.asks(a.id);
    return { id, a: a.id };
  };

  it('one that is over is deleted while its parent writes: neither waits for the other', async () => {
    const id = await bench.begin([delegate(part('A')), question()]);
    await bench.asks(id);
    const [{ id: a } = { id: '' }] = await bench.childrenOf(id);
    await service.db.query(`UPDATE runs SET status = 'running', lease_until = now() + interval '1 hour' WHERE task_id = $1`, [id]); // prettier-ignore
    const writes = await holding(service.db, 'SELECT 1 FROM runs WHERE task_id = $1 FOR UPDATE', [id]);
    try {
      expect((await bench.client.delete(`/v1/tasks/${a}`)).status).toBe(200);
    } finally {
      await writes.release();
    }
    await bench.ask('cancel', id);
  });

  it('a parent that is cancelled waits no more: what it is sent then is read turn by turn', async () => {
    const { id } = await waitingOf(bench);
    expect(await rowOf(id)).toMatchObject({ waiting: true });
    await bench.ask('cancel', id);
    expect(await rowOf(id)).toMatchObject({ status: 'cancelled', waiting: false });
  });

  /** A child as the parent makes one at this moment, while the request waits for the row of the parent. */
  const meanwhile = async (parent: string, request: () => Promise<{ status: number }>, words: string) => {
    const held = await holdingTask(service.db, parent);
    const answered = request();
    await untilWaiting(service.db, words);
    const child = crypto.randomUUID();
    await held.query(
      `INSERT INTO tasks SELECT (jsonb_populate_record(t, jsonb_build_object('id', $2::text, 'parent_task_id', t.id, 'status', 'awaiting_input',
        'waiting_since', null, 'children', 0))).* FROM tasks t WHERE t.id = $1`,
      [parent, child],
    );
    await held.query('UPDATE tasks SET children = children + 1 WHERE id = $1', [parent]);
    await held.release();
    expect((await answered).status).toBe(200);
    return child;
  };

  it('one that is made while its creator is removed is cancelled with the others', async () => {
    const { workspace } = bench.member;
    const leaving = new SubtaskBench(await makeMember(service, { workspace }));
    const { id } = await waitingOf(leaving);
    const child = await meanwhile(id, () => bench.client.delete(`/v1/members/${leaving.member.user.id}`), 'FROM tasks');
    expect(await rowOf(child)).toMatchObject({ status: 'cancelled', reason: 'owner_removed' });
  });

  it('one that is made while its creator is removed is handed over with the others', async () => {
    const { workspace } = bench.member;
    const leaving = new SubtaskBench(await makeMember(service, { workspace }));
    const heir = await makeMember(service, { workspace });
    const { id } = await waitingOf(leaving);
    const path = `/v1/members/${leaving.member.user.id}?transferTo=${heir.user.id}`;
    const child = await meanwhile(id, () => bench.client.delete(path), 'FROM tasks');
    expect(await rowOf(child)).toMatchObject({ createdBy: heir.user.id });
    await bench.ask('cancel', id);
  });

  it('those that are made while their parent is paused are paused, and resumed with it', async () => {
    // As by a request that comes while the step is written.
    await service.db.query(`
      CREATE FUNCTION pause_now() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE tasks SET paused = true, status_reason = '{"code": "paused", "message": "Paused on request.", "retryable": true}'
        WHERE id = (SELECT task_id FROM messages WHERE id = NEW.message_id) AND parent_task_id IS NULL;
        RETURN NULL;
      END $$;
      CREATE TRIGGER pause_now AFTER INSERT ON tool_invocations FOR EACH ROW WHEN (NEW.name = 'delegate') EXECUTE FUNCTION pause_now()`);
    try {
      const id = await bench.begin([delegate(part('A'), part('B'))]);
      const children = await until('the tasks to be made', async () => {
        const found = await bench.childrenOf(id);
        return found.length === 2 && (await rowOf(id))?.status === 'queued' ? found : null;
      });
      for (const one of children) expect(await bench.read(one.id)).toMatchObject({ status: 'queued', statusReason: { code: 'paused' } }); // prettier-ignore
      await bench.ask('resume', id);
      expect(await bench.ended(id)).toMatchObject({ status: 'completed' });
    } finally {
      await service.db.query('DROP FUNCTION pause_now CASCADE');
    }
  });

  it('the look of each minute passes over what somebody holds, and wakes the others', async () => {
    const [held, other] = [await waitingOf(bench), await waitingOf(bench)];
    // As if the ends of the children had been lost on their way.
    await service.db.query(`UPDATE task_children SET settled_at = now() WHERE parent_id IN ($1, $2)`, [
      held.id,
      other.id,
    ]);
    const run = await holding(service.db, 'SELECT 1 FROM runs WHERE task_id = $1 FOR UPDATE', [held.id]);
    const overdue = await waitingOf(bench, { budget: { maxDurationSeconds: 300 } });
    await service.db.query(`UPDATE tasks SET waiting_since = now() - interval '1 hour' WHERE id = $1`, [overdue.id]);
    await run.query('SELECT 1 FROM task_children WHERE parent_id = $1 FOR UPDATE', [overdue.id]);
    try {
      await bench.lookOf(service);
      expect(await bench.ended(other.id)).toMatchObject({ status: 'completed' });
      expect(await rowOf(held.id)).toMatchObject({ status: 'queued' });
    } finally {
      await run.release();
    }
    await bench.lookOf(service);
    expect(await bench.ended(held.id)).toMatchObject({ status: 'completed' });
    expect(await bench.ended(overdue.id)).toMatchObject({ statusReason: { code: 'budget_exceeded' } });
    for (const { a } of [held, other, overdue]) await bench.ask('cancel', a);
  });

  it('the time of a pause does not count to maxDurationSeconds of a parent that waits', async () => {
    const { id, a } = await waitingOf(bench, { budget: { maxDurationSeconds: 300 } });
    await service.db.query(`UPDATE tasks SET waiting_since = waiting_since - interval '60 seconds' WHERE id = $1`, [
      id,
    ]);
    await bench.ask('pause', id);
    // As if it had been paused for an hour.
    await service.db.query(`UPDATE tasks SET waiting_since = waiting_since - interval '1 hour' WHERE id = $1`, [id]);
    await bench.lookOf(service);
    const released = await service.db.query('SELECT 1 FROM task_children WHERE parent_id = $1 AND released', [id]);
    expect(released).toEqual([]);
    expect(await bench.ask('resume', id)).toMatchObject({ statusReason: WAITING });
    await bench.answer(a);
    expect(await bench.ended(id)).toMatchObject({ status: 'completed' });
    const [{ ms } = { ms: 0 }] = await service.db.query<{ ms: number }>('SELECT turn_duration_ms::int AS ms FROM tasks WHERE id = $1', [id]); // prettier-ignore
    expect(ms).toBeGreaterThan(60_000);
    expect(ms).toBeLessThan(300_000);
  });
});
