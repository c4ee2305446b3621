// What was kept from the outside stays so when it is done anew (reference §27.5).
import { createAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { plan, runs } from '../harness/automations.js';
import { makeMember, type Member } from '../harness/client.js';
import { connect, deliver, github } from '../harness/hooks.js';
import { ModelServer } from '../harness/model-server.js';
import { createTask, finished, readTask, script, type TaskBody } from '../harness/tasks.js';

describe('An evaluation of tasks that were walled in (reference §27.5)', () => {
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: { sandbox: { network: 'allow', allowHosts: ['example.com'] } },
    });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    await createAgent(owner.client, { web: true });
  });
  afterAll(() => model.stop());

  /** The task that is made of another, and what its model is told of its surroundings. */
  const anew = async (taskId: string) => {
    const before = model.requests.length;
    const json = { versions: [1], cases: [{ taskId }] };
    const { body } = await owner.client.post<{ evaluation: { tasks: { taskId: string }[] } }>(
      '/v1/agents/reviewer/evaluate',
      json,
    );
    const { id } = await finished(owner.client, body.evaluation.tasks[0]?.taskId ?? '');
    const task = (await readTask(owner.client, id)) as TaskBody & { web: boolean };
    return { task, told: model.requests[before]?.surroundings ?? '' };
  };

  it('has no network and no pages for one that an event began', async () => {
    const { id: connectionId, path, secret } = await connect(service, owner);
    const given = { triggerEvent: 'github.push', connectionId, content: script({ text: 'Done.' }) };
    const automation = await plan(service.db, owner, given);
    await deliver(service, path, github(secret, { body: JSON.stringify({ ref: 'refs/heads/main' }) }));
    const [run] = await runs(service.db, automation);
    const { id } = await finished(owner.client, run?.taskId ?? '');
    const { task, told } = await anew(id);
    expect(task.web).toBe(false);
    expect(told).not.toContain('example.com');
    const { told: again } = await anew(task.id);
    expect(again).not.toContain('example.com');
  });

  it('has both for one that a person began, and no pages where that one had none', async () => {
    const { id } = await createTask(owner.client, { content: script({ text: 'Done.' }) });
    await finished(owner.client, id);
    const { task, told } = await anew(id);
    expect(task.web).toBe(true);
    expect(told).toContain('example.com');
    const without = await createTask(owner.client, { content: script({ text: 'Done.' }), web: false });
    await finished(owner.client, without.id);
    expect((await anew(without.id)).task.web).toBe(false);
  });
});
