import { bootWorker, useService } from '../harness/app.js';
import {
  type AutomationBody,
  AUTOMATIONS,
  createAutomation,
  readAutomation,
  type RunBody,
} from '../harness/automation-requests.js';
import { makeMember } from '../harness/client.js';
import { Operator } from '../harness/operator.js';
import { until } from '../harness/until.js';

describe('automation … of the operator command (reference §12, §16)', () => {
  const service = useService(bootWorker);
  const json = <T>(...args: string[]) => new Operator(service).json<T>('automation', ...args);

  it('list shows the automations of a workspace, the oldest first', async () => {
    const { workspace, user, client } = await makeMember(service);
    const made = [await createAutomation({ client }, { name: 'A' }), await createAutomation({ client }, { name: 'B' })];
    const { automations } = await json<{ automations: AutomationBody[] }>('list', '--workspace', workspace.slug);
    expect(automations.map(({ id }) => id)).toEqual(made.map(({ id }) => id));
    expect(automations[0]).toMatchObject({ name: 'A', status: 'active', nextRunAt: made[0]?.nextRunAt, owner: { id: user.id } }); // prettier-ignore
    const words = await new Operator(service).run('automation', 'list', '--workspace', workspace.slug);
    expect(words).toMatch(/^ID +NAME +STATUS +TRIGGER .*\n[-\da-f]{36} {2}A +active +\S+ \S+ \* \* \S+ /);
    const { workspace: empty } = await makeMember(service);
    expect(await json('list', '--workspace', empty.slug)).toEqual({ automations: [] });
  });

  it('pause and resume do what the routes do, and refuse in their words', async () => {
    const { workspace, client } = await makeMember(service);
    const { id } = await createAutomation({ client });
    const at = ['--workspace', workspace.slug];
    const { automation } = await json<{ automation: AutomationBody }>('pause', id, ...at);
    expect(automation).toMatchObject({ status: 'paused', pausedReason: { code: 'manual' }, nextRunAt: null });
    expect(await new Operator(service).run('automation', 'pause', id, ...at)).toContain(
      'pausedReason: Paused on request.',
    );
    await json('resume', id, ...at);
    expect((await readAutomation(client, id)).status).toBe('active');
    await service.db.query(`UPDATE automations SET status = 'completed' WHERE id = $1`, [id]);
    await expect(json('resume', id, ...at)).rejects.toThrow('The automation is completed');
  });

  it('run lets a worker make a run, with the id that is printed', async () => {
    const { workspace, client } = await makeMember(service);
    const { id } = await createAutomation({ client });
    const { run } = await json<{ run: { id: string } }>('run', id, '--workspace', workspace.slug);
    const runs = async () => (await client.get<{ runs: RunBody[] }>(`${AUTOMATIONS}/${id}/runs`)).body.runs;
    await until('the run is made', async () => (await runs()).length > 0);
    const trigger = { type: 'manual', scheduledAt: null, event: null };
    expect(await runs()).toEqual([expect.objectContaining({ id: run.id, status: 'started', trigger })]);
  });

  it('knows the automations of the workspace alone', async () => {
    const { workspace } = await makeMember(service);
    const { id } = await createAutomation(await makeMember(service));
    for (const verb of ['run', 'pause', 'resume']) {
      for (const wrong of [id, 'x']) {
        const refused = json(verb, wrong, '--workspace', workspace.slug);
        await expect(refused).rejects.toThrow(`There is no automation '${wrong}'`);
      }
    }
  });
});
