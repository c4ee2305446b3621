import { newId } from '../../src/platform/database/ids.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { createTask, finished, readMessages, readTask } from '../harness/tasks.js';

describe('What a machine took with it (reference §23)', () => {
  let model: HeldModel;
  let member: Member;
  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.server.stop());

  const turn = async (id: string | null, ...commands: string[]) => {
    const content = 'Go on.';
    if (id === null) ({ id } = await createTask(member.client, { content }));
    else await member.client.post(`/v1/tasks/${id}/messages`, { content });
    const asked = await model.asked();
    asked.answer(bash(...commands));
    const then = await model.asked();
    then.answer({ text: 'Done.' });
    expect((await finished(member.client, id)).status).toBe('completed');
    return { id, first: asked, second: then };
  };
  /** As when the machine is lost before the snapshot of the last turn is made: another one has the folder. */
  const lose = async (id: string, snapshots: 'the last' | 'none') => {
    if (snapshots === 'the last')
      await service.db.query(
        'DELETE FROM snapshots WHERE task_id = $1 AND turn = (SELECT turn FROM tasks WHERE id = $1)',
        [id],
      );
    await service.db.query('UPDATE tasks SET machine_id = $2 WHERE id = $1', [id, newId()]);
  };
  const told = async (id: string) =>
    (await readMessages(member.client, id, '?limit=100'))
      .flatMap(({ parts }) => parts)
      .filter(({ type, name }) => type === 'data' && name === 'workdir');

  it('is said to people by a part, and to the agent with the calls that have left no trace, once', async () => {
    const { id } = await turn(null, 'echo one > a');
    await turn(id, 'echo two > b');
    await lose(id, 'the last');
    const before = (await readTask(member.client, id)) as unknown as { messageCount: number };
    const { first, second } = await turn(id, 'ls');
    expect(first.said.at(-1)).toContain('have left no trace');
    expect(first.said.at(-1)).toContain('- bash: "echo two > b"');
    expect(first.said.at(-1)).not.toContain('echo one');
    expect(second.said.slice(0, first.said.length)).toEqual(first.said);
    expect(await told(id)).toMatchObject([{ data: { restoredToStep: 0, lostSteps: 1 } }]);
    // Its message, the person's and two of the agent.
    expect(await readTask(member.client, id)).toMatchObject({ messageCount: before.messageCount + 4 });
    // It stays what it is in the next run, and is told no second time.
    const later = await turn(id, 'echo three > c');
    expect(later.first.said.slice(0, first.said.length)).toEqual(first.said);
    await lose(id, 'none');
    const last = await turn(id, 'cat a c');
    expect(await told(id)).toHaveLength(1);
    expect(JSON.stringify(last.second.request.messages)).toContain(String.raw`one\nthree`);
  });

  it('nothing is said where nothing is gone', async () => {
    const { id } = await turn(null, 'echo one > a');
    await lose(id, 'none');
    const { first } = await turn(id, 'cat a');
    expect(first.said.join()).not.toContain('no trace');
    expect(await told(id)).toEqual([]);
  });
});
