import { bootApp, useService } from '../harness/app.js';
import { createAutomation, readAutomation, type RunBody } from '../harness/automation-requests.js';
import { allow, useToday } from '../harness/billing.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { makeTask } from '../harness/files.js';
import { INVOICES } from './invoices.js';

describe('A billing provider of an extension (reference §14, docs/seams.md)', () => {
  const service = useService(() => bootApp({ extensions: [INVOICES], env: { BILLING: 'invoices' } }));
  let member: Member;
  beforeEach(async () => {
    member = await makeMember(service);
  });

  const invoice = (due: string) =>
    service.db.query(`INSERT INTO invoices VALUES (gen_random_uuid(), $1, now() + $2::interval)`, [member.workspace.id, due]); // prettier-ignore
  const post = (path: string, json: object) => member.client.post<ErrorBody>(path, json);

  it('says how the workspace stands', async () => {
    const summary = async () => (await member.client.get('/v1/billing/summary')).body;
    const plan = { id: 'paid', name: 'By invoice' };
    expect(await summary()).toMatchObject({ plan, subscription: { status: 'active' }, storage: { usedBytes: 0 } });
    await invoice('-1 day');
    expect(await summary()).toMatchObject({ plan, subscription: { status: 'past_due' } });
  });

  it('refuses tasks, messages and answers with its own words, and nothing is left of them', async () => {
    const task = await makeTask(service, member);
    await invoice('1 day');
    expect((await post('/v1/tasks', { content: 'x' })).status).toBe(201);
    await invoice('-1 day');
    const answer = { interactionId: crypto.randomUUID(), content: 'x' };
    for (const [path, json] of [
      ['/v1/tasks', { content: 'x' }],
      [`/v1/tasks/${task}/messages`, { content: 'x' }],
      [`/v1/tasks/${task}/interaction`, answer],
    ] as const) {
      const { status, body } = await post(path, json);
      expect([path, status, body.error.code]).toEqual([path, 402, 'subscription_required']);
      expect(body.error.message).toMatch(/^The invoice .* is overdue; pay it to go on\.$/);
    }
    expect((await member.client.get<{ tasks: unknown[] }>('/v1/tasks')).body.tasks).toHaveLength(2);
  });

  it('is asked for the tasks of automations too: the run is recorded as failed, and the automation stays active', async () => {
    const { id } = await createAutomation(member);
    await invoice('-1 day');
    const { body } = await member.client.post<{ run: RunBody }>(`/v1/automations/${id}/run`);
    expect(body.run).toMatchObject({ status: 'failed', reason: { code: 'subscription_required' }, taskId: null });
    expect(await readAutomation(member.client, id)).toMatchObject({ status: 'active' });
  });

  it('decides alone: a window that is used up refuses nothing here', async () => {
    await allow(service, member, [{ window: 'day', unit: 'tasks', allowance: 1 }]);
    await useToday(service, member, { tasks: 1 });
    expect((await post('/v1/tasks', { content: 'x' })).status).toBe(201);
  });

  it('is found by its name, or the boot stops and lists those that there are', async () => {
    const boot = bootApp({ extensions: [INVOICES], env: { BILLING: 'stripe' } });
    await expect(boot).rejects.toThrow('BILLING: one of invoices, operator is expected.');
  });
});
