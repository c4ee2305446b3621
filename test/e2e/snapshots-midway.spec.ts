import { newId } from '../../src/platform/database/ids.js';
import { Machine } from '../../src/work/machines/machine.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { createTask, finished } from '../harness/tasks.js';

describe('Snapshots while a run goes on (reference §22)', () => {
  let model: HeldModel;
  let member: Member;
  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url, SNAPSHOT_SECONDS: '0' } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.server.stop());

  const rows = (taskId: string) =>
    service.db.query<{ turn: number; step: number }>(
      'SELECT turn, step FROM snapshots WHERE task_id = $1 ORDER BY created_at, id',
      [taskId],
    );
  const anotherWorks = async () => {
    await service.db.query(
      `INSERT INTO workers (id, machine_id, host, places, version) VALUES ($1, $2, 'mill', 4, '1')`,
      [newId(), newId()],
    );
    await service.app.get(Machine, { strict: false }).beat();
  };
  const end = async (taskId: string) => {
    (await model.asked()).answer({ text: 'Done.' });
    expect((await finished(member.client, taskId)).status).toBe('completed');
  };

  it('with one machine there are none', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    (await model.asked()).answer(bash('echo one > a'));
    const next = await model.asked();
    expect(await rows(id)).toEqual([]);
    next.answer({ text: 'Done.' });
    await finished(member.client, id);
    expect(await rows(id)).toEqual([{ turn: 1, step: 2 }]);
  });

  it('with several there is one behind each step that may have changed the folder, in place of the one before', async () => {
    await anotherWorks();
    const { id } = await createTask(member.client, { content: 'Begin.' });
    (await model.asked()).answer(bash('echo one > a', 'echo two >> a'));
    const second = await model.asked();
    expect(await rows(id)).toEqual([{ turn: 1, step: 1 }]);
    const content = await member.client.get(`/v1/tasks/${id}/workdir/content?path=a`);
    expect(content.text).toBe('one\ntwo\n');
    second.answer({ calls: [{ name: 'read', arguments: { path: 'a' } }] });
    const third = await model.asked();
    expect(await rows(id)).toEqual([{ turn: 1, step: 1 }]);
    third.answer(bash('echo three > b'));
    const fourth = await model.asked();
    expect(await rows(id)).toEqual([{ turn: 1, step: 3 }]);
    fourth.answer(bash('true'));
    await end(id);
    expect(await rows(id)).toEqual([{ turn: 1, step: 5 }]);
  });
});
