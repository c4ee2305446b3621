import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SandboxSelector } from '../../src/engine/sandbox/sandbox-selector.js';
import { newId } from '../../src/platform/database/ids.js';
import { Machine } from '../../src/work/machines/machine.js';
import { bootWorker, useService } from '../harness/app.js';
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { createTask, finished, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('A fork of a turn that was cut off (reference §5)', () => {
  let model: HeldModel;
  let who: Member;
  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url, SNAPSHOT_SECONDS: '0' } });
  });
  beforeAll(async () => (who = await makeMember(service, { role: 'owner' })));
  afterAll(() => model.server.stop());

  /** Whether a second machine works: then runs take snapshots midway. */
  const another = async (works: boolean) => {
    if (works)
      await service.db.query(
        `INSERT INTO workers (id, machine_id, host, places, version, seen_at) VALUES ($1, $2, 'mill', 4, '1', now() + interval '1 hour')`,
        [newId(), newId()],
      );
    else await service.db.query(`DELETE FROM workers WHERE host = 'mill'`);
    await service.app.get(Machine, { strict: false }).beat();
  };
  /** A task whose first turn wrote `one` into `a`; a second one was begun. */
  const begun = async (more: object = {}) => {
    const { id } = await createTask(who.client, { content: 'Begin.', ...more });
    (await model.asked()).answer(bash('echo one > a'));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(who.client, id);
    await who.client.post(`/v1/tasks/${id}/messages`, { content: 'Go on.' });
    return { id, second: await model.asked() };
  };
  const cancel = async (id: string) => {
    expect((await who.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
    expect((await finished(who.client, id)).status).toBe('cancelled');
  };
  const fork = (id: string, body: object = {}) =>
    who.client.post<{ task: TaskBody } & ErrorBody>(`/v1/tasks/${id}/fork`, body);
  /** What a fork of the task finds in `a`. */
  const found = async (id: string, body: object = {}) => {
    const made = await fork(id, { content: 'Read.', ...body });
    expect(made.status).toBe(201);
    (await model.asked()).answer(bash('cat a'));
    const { request, answer } = await model.asked();
    answer({ text: 'Read.' });
    await finished(who.client, made.body.task.id);
    return JSON.stringify(request.messages.at(-1));
  };
  const gone = { status: 409, body: { error: { code: 'snapshot_gone', param: 'turn' } } };

  it('has the folder of its last step when that has a snapshot', async () => {
    await another(true);
    const { id, second } = await begun();
    second.answer(bash('echo two > a'));
    await model.asked();
    await cancel(id);
    expect(await found(id)).toContain('two');
  });

  it('is 409 snapshot_gone when a call has ended since, and the turn before may be forked', async () => {
    await another(true);
    const { id, second } = await begun();
    second.answer(bash('echo two > a'));
    const third = await model.asked();
    await another(false);
    third.answer(bash('echo three > a'));
    const fourth = await model.asked();
    await cancel(id);
    fourth.answer({ text: 'Too late.' });
    // The cancelled run has a snapshot of its own; as if that had failed.
    const own = `UPDATE snapshots SET created_at = created_at - interval '1 hour' WHERE task_id = $1 AND turn = 2 AND step = 2 RETURNING id`;
    await until('its snapshot', async () => (await service.db.query(own, [id])).length > 0);
    expect(await fork(id)).toMatchObject(gone);
    expect(await fork(id, { turn: 2 })).toMatchObject(gone);
    expect(await found(id, { turn: 1 })).toContain('one');
  });

  it.each(['cancel', 'interrupt'])('whose call was cut off by %s', async (cut) => {
    await another(true);
    const { id, second } = await begun();
    second.answer(bash('echo two > a'));
    (await model.asked()).answer(bash('echo three > a; touch begun; sleep 1000'));
    const folder = service.app.get(SandboxSelector, { strict: false }).current;
    await until('the call to run', async () => {
      const roots = await folder.folders(id);
      return Object.values(roots ?? {}).some((path) => existsSync(join(path, 'begun')));
    });
    if (cut === 'cancel') {
      await cancel(id);
      // Its snapshot follows the end of the call.
      await until('its snapshot', async () => (await fork(id)).status === 201);
      expect(await found(id)).toContain('three');
      return;
    }
    await who.client.post(`/v1/tasks/${id}/messages`, { content: 'Stop.', mode: 'interrupt' });
    // The next turn began at once in the folder.
    expect(await fork(id, { turn: 2 })).toMatchObject(gone);
    (await model.asked()).answer({ text: 'Stopped.' });
    await finished(who.client, id);
    expect(await found(id)).toContain('three');
  });

  it('has the folder as it was when a person was asked and the turn was cancelled instead', async () => {
    await another(false);
    const { id } = await createTask(who.client, { content: 'Begin.', approvals: 'writes' });
    (await model.asked()).answer(bash('echo one > a'));
    const approval = await approvalOf(who.client, id);
    await answerApproval(who.client, id, approval, { decision: 'approve' });
    (await model.asked()).answer(bash('echo two > a'));
    await approvalOf(who.client, id, approval);
    await cancel(id);
    const made = await fork(id);
    expect(made.status).toBe(201);
    const content = await who.client.get(`/v1/tasks/${made.body.task.id}/workdir/content?path=a`);
    expect(content.text).toBe('one\n');
  });
});
