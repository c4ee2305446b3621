// What the tasks of a task are to those who began it: an automation, and a member who leaves (reference §27.3).
import { bootWorker, useService } from '../harness/app.js';
import { makeDue, plan, readAutomation, runs, runsOf } from '../harness/automations.js';
import { makeMember } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { type ChildTask, delegate, DONE, part, question, SubtaskBench } from '../harness/subtasks.js';
import { script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const CRON = '0 0 1 1 *';
type Owned = ChildTask & { createdBy: { id: string } };

describe('Tasks of tasks and who began them (reference §27.3)', () => {
  let model: ModelServer;
  let bench: SubtaskBench;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeEach(async () => {
    bench = new SubtaskBench(await makeMember(service, { role: 'owner' }));
  });
  afterAll(() => model.stop());

  const planned = (...parts: object[]) =>
    plan(service.db, bench.member, { cron: CRON, content: script(delegate(...parts), DONE) });
  const fired = async (id: string, count = 1) => (await runs(service.db, id, count)).at(-1);
  const owners = (...ids: string[]) =>
    Promise.all(ids.map(async (id) => ((await bench.read(id)) as Owned).createdBy.id));

  it('an automation counts the parent only: its run is over with that, whatever is still under way below', async () => {
    const id = await planned(part('A', [question()]));
    const parentId = (await fired(id))?.taskId ?? '';
    const [a = { id: '' }] = await bench.waiting(parentId, 1);
    expect(await bench.read(parentId)).toMatchObject({ source: { type: 'automation', automationId: id } });
    expect(await bench.read(a.id)).toMatchObject({ source: { type: 'task', automationId: null, automationRunId: null } }); // prettier-ignore
    // The parent waits: it is not over.
    await makeDue(service.db, id);
    expect(await fired(id, 2)).toMatchObject({ status: 'skipped', reason: { code: 'previous_running' } });
    // A child that is queued, as one that waits for a place would be.
    await bench.asks(a.id);
    await bench.ask('pause', a.id);
    await bench.answer(a.id);
    expect(await bench.read(a.id)).toMatchObject({ status: 'queued' });
    await bench.send(parentId, 'Now.', { mode: 'interrupt' });
    expect(await bench.ended(parentId)).toMatchObject({ status: 'completed' });
    await makeDue(service.db, id);
    const third = await fired(id, 3);
    expect(third).toMatchObject({ status: 'started' });
    expect(await bench.read(a.id)).toMatchObject({ status: 'queued' });
    for (const one of [third?.taskId ?? '', a.id]) await bench.ask('cancel', one);
    const listed = await bench.client.get<{ tasks: ChildTask[] }>(`/v1/tasks?automationId=${id}&parentTaskId=any`);
    expect(listed.body.tasks.map((task) => task.id).sort()).toEqual([parentId, third?.taskId].sort());
  });

  it('a child that fails is no failure of the automation', async () => {
    const id = await planned(part('A', [{ status: 400 }]));
    await service.db.query('UPDATE automations SET consecutive_failures = 3 WHERE id = $1', [id]);
    const parentId = (await fired(id))?.taskId ?? '';
    expect(await bench.ended(parentId)).toMatchObject({ status: 'completed' });
    expect(await bench.childrenOf(parentId)).toMatchObject([{ status: 'failed' }]);
    const counted = async () => (await readAutomation(service.db, id)).consecutiveFailures;
    await until('the end of the parent to be counted', async () => (await counted()) === 0);
    expect(await runsOf(service.db, id)).toHaveLength(1);
  });

  it('of a member who is removed they are handed over with their parent, and go on', async () => {
    const { workspace } = bench.member;
    const leaving = new SubtaskBench(await makeMember(service, { workspace }));
    const heir = await makeMember(service, { workspace });
    const inner = part('B', [question(), delegate(part('C', [question()]))]);
    const id = await leaving.begin([delegate(part('A'), inner), delegate(part('D'))]);
    const [a = { id: '' }, b = { id: '' }] = await leaving.waiting(id, 2);
    await leaving.asks(b.id);
    const removed = await bench.client.delete(`/v1/members/${leaving.member.user.id}?transferTo=${heir.user.id}`);
    expect(removed.status).toBe(200);
    expect(await owners(id, a.id, b.id)).toEqual([heir.user.id, heir.user.id, heir.user.id]);
    // What they make from now on is the heir's, too.
    await bench.answer(b.id);
    const [c = { id: '' }] = await bench.waiting(b.id, 1);
    await bench.answer(c.id);
    expect(await bench.ended(id)).toMatchObject({ status: 'completed', children: { tasks: 4 } });
    const [, , d = { id: '' }] = await bench.childrenOf(id);
    expect(await owners(c.id, d.id)).toEqual([heir.user.id, heir.user.id]);
  });
});
