// The log of a webhook's deliveries, and those that people ask for (reference §18). Nothing is sent here: webhook-deliveries.spec.ts.
import { WorkspaceRemover } from '../../src/access/workspaces/workspace-remover.js';
import { WebhookPurge } from '../../src/resources/webhooks/webhook-purge.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createTask } from '../harness/tasks.js';
import { askFor, createWebhook, deliveriesOf, readDelivery, type WebhookBody } from '../harness/webhooks.js';

const DAY = 24 * 3_600_000;
let urls = 0;
const newUrl = () => `https://hooks.example/${(urls += 1)}`;

describe('The deliveries of a webhook (reference §18)', () => {
  const service = useService(bootApp);
  let owner: Member;
  let hook: WebhookBody;
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    hook = (await createWebhook(owner.client, { url: newUrl() })).webhook;
  });
  const change = (id: string, json: object) => owner.client.patch(`/v1/webhooks/${id}`, json);
  const set = (sql: string, ...values: unknown[]) =>
    service.db.query(`UPDATE webhook_deliveries SET ${sql} WHERE webhook_id = $1`, [hook.id, ...values]);
  const recover = async (json: object = { since: '2026-01-01' }) =>
    (await owner.client.post<{ count: number }>(`/v1/webhooks/${hook.id}/recover`, json)).body.count;
  const ended = `next_attempt_at = NULL, status = `;

  it('are listed page by page, by status, type and task', async () => {
    const [one, other] = [await createTask(owner.client, { content: 'x' }), await createTask(owner.client, { content: 'x' })];
    await owner.client.post(`/v1/tasks/${one.id}/cancel`);
    await set(`${ended} 'delivered' `);
    const test = await askFor(owner.client, `${hook.id}/test`);
    const types = async (query: string) => (await deliveriesOf(owner.client, hook.id, query)).map(({ eventType }) => eventType);
    expect(await types('')).toEqual(['webhook.test', 'task.cancelled', 'task.created', 'task.created']);
    expect(await types(`taskId=${one.id}`)).toEqual(['task.cancelled', 'task.created']);
    expect(await types(`taskId=${other.id}&type=task.cancelled`)).toEqual([]);
    expect(await types('taskId=nobody')).toEqual([]);
    expect(await types('status=pending')).toEqual(['webhook.test']);
    expect(await types('type=webhook.test')).toEqual(['webhook.test']);
    expect((await owner.client.get(`/v1/webhooks/${hook.id}/deliveries?type=task`)).status).toBe(400);
    expect(test).toEqual({
      id: expect.any(String),
      webhookId: hook.id,
      eventId: expect.any(String),
      eventType: 'webhook.test',
      taskId: null,
      status: 'pending',
      attempts: 0,
      nextAttemptAt: expect.any(String),
      lastAttempt: null,
      redelivery: false,
      createdAt: expect.any(String),
    });
  }); // prettier-ignore

  it('are made again on request, whatever became of the old one', async () => {
    await createTask(owner.client, { content: 'x' });
    const [old] = await deliveriesOf(owner.client, hook.id);
    if (old === undefined) throw new Error('Nothing was delivered.');
    for (const status of ['pending', 'delivered', 'failed', 'cancelled']) {
      if (status !== 'pending') await set(`${ended} $2`, status);
      const again = await askFor(owner.client, `${hook.id}/deliveries/${old.id}/redeliver`);
      expect(again).toMatchObject({ eventId: old.eventId, status: 'pending', attempts: 0, redelivery: true });
      expect((await readDelivery(owner.client, again)).body).toBe((await readDelivery(owner.client, old)).body);
    }
    await change(hook.id, { status: 'disabled' });
    const cancelled = await askFor(owner.client, `${hook.id}/deliveries/${old.id}/redeliver`);
    expect(cancelled).toMatchObject({ status: 'cancelled', nextAttemptAt: null });
    expect(await askFor(owner.client, `${hook.id}/test`)).toMatchObject({ status: 'pending' });
  });

  it('are recovered: one of each event since then that was neither delivered nor waits', async () => {
    for (let n = 0; n < 4; n += 1) await createTask(owner.client, { content: 'x' });
    await set(`${ended} 'failed'`);
    const [, second, third] = await deliveriesOf(owner.client, hook.id);
    if (third === undefined) throw new Error('Four were delivered.');
    const { timestamp: since } = JSON.parse((await readDelivery(owner.client, third)).body) as { timestamp: string };
    await service.db.query(`UPDATE webhook_deliveries SET status = 'delivered' WHERE id = $1`, [second?.id]);
    expect(await recover({ since: new Date(Date.now() + DAY).toISOString() })).toBe(0);
    expect(await recover({ since: '2026-01-01', types: ['task.failed', 'automation.*'] })).toBe(0);
    expect(await recover({ since, types: ['task.created'] })).toBe(2);
    expect(await recover()).toBe(1);
    expect(await recover()).toBe(0);
    const all = await deliveriesOf(owner.client, hook.id, 'status=pending');
    expect(all.map(({ redelivery }) => redelivery)).toEqual([true, true, true]);
    expect(new Set(all.map(({ eventId }) => eventId)).size).toBe(3);
    for (const json of [{}, { since: 'yesterday' }, { since: '2026-01-01', types: ['x'] }]) {
      expect((await owner.client.post(`/v1/webhooks/${hook.id}/recover`, json)).status).toBe(400);
    }
  });

  it('of events before the webhook, of other types and of other projects are not recovered', async () => {
    const { webhook } = await createWebhook(owner.client, { url: newUrl(), types: ['task.failed'] });
    await createTask(owner.client, { content: 'x' });
    const counts = async (id: string) =>
      (await owner.client.post<{ count: number }>(`/v1/webhooks/${id}/recover`, { since: '2026-01-01' })).body.count;
    expect(await counts(webhook.id)).toBe(0);
    const late = await createWebhook(owner.client, { url: newUrl() });
    expect(await counts(late.webhook.id)).toBe(0);
    await change(hook.id, { status: 'disabled' });
    expect(await counts(hook.id)).toBe(0);
    await change(hook.id, { status: 'enabled' });
    expect(await counts(hook.id)).toBe(1);
  });

  it('of a task that is deleted are withdrawn, but for task.deleted, and neither made again nor recovered', async () => {
    const task = await createTask(owner.client, { content: 'x' });
    const [old] = await deliveriesOf(owner.client, hook.id);
    await owner.client.delete(`/v1/tasks/${task.id}`);
    const left = await deliveriesOf(owner.client, hook.id);
    expect(left.map(({ eventType, taskId }) => [eventType, taskId])).toEqual([['task.deleted', task.id]]);
    expect((await owner.client.post(`/v1/webhooks/${hook.id}/deliveries/${old?.id}/redeliver`)).status).toBe(404);
    await set(`${ended} 'failed'`);
    expect(await recover()).toBe(1);
    expect(await askFor(owner.client, `${hook.id}/deliveries/${left[0]?.id}/redeliver`)).toMatchObject({ eventType: 'task.deleted' });
  }); // prettier-ignore

  it('are kept for 30 days, and go with their webhook and workspace', async () => {
    await createTask(owner.client, { content: 'x' });
    await createTask(owner.client, { content: 'x' });
    const [, first] = await deliveriesOf(owner.client, hook.id);
    await service.db.query(`UPDATE webhook_deliveries SET created_at = now() - interval '31 days' WHERE id = $1`, [first?.id]);
    const { webhook } = await createWebhook(owner.client, { url: newUrl() });
    await askFor(owner.client, `${webhook.id}/test`);
    await owner.client.delete(`/v1/webhooks/${webhook.id}`);
    const purge = service.app.get(WebhookPurge);
    expect(await purge.purge()).toBe(2);
    expect(await deliveriesOf(owner.client, hook.id)).toHaveLength(1);
    await service.app.get(WorkspaceRemover).remove(owner.workspace.id);
    await purge.purge();
    const left = await service.db.query('SELECT id FROM webhook_deliveries WHERE webhook_id = $1', [hook.id]);
    expect(left).toEqual([]);
  }); // prettier-ignore

  it('that were written while their webhook was being disabled are cancelled', async () => {
    await createTask(owner.client, { content: 'x' });
    await change(hook.id, { status: 'disabled' });
    await set(`status = 'pending', next_attempt_at = now()`);
    await service.app.get(WebhookPurge).purge();
    expect((await deliveriesOf(owner.client, hook.id)).map(({ status }) => status)).toEqual(['cancelled']);
  });
});
