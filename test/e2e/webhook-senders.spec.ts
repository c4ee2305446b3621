// Several processes that send, their end, and names that nobody resolves (reference §18).
import { Egress } from '../../src/platform/egress/egress.js';
import type { Resolver } from '../../src/platform/egress/name-servers.js';
import { DeliverySender } from '../../src/work/deliveries/delivery-sender.js';
import { WebhookEgress } from '../../src/work/deliveries/webhook-egress.js';
import { bootWorker, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { askFor, becomes, createWebhook, deliveriesOf, HERE, Receiver } from '../harness/webhooks.js';
import { slowIt } from '../harness/slow.js';

/** `dead.example` has servers that do not answer; every other name is this host, but one. */
const resolver: Resolver = (host, _options, done) => {
  if (host === 'dead.example') return;
  setImmediate(() => done(null, [{ address: host === 'inside.example' ? '10.0.0.1' : '127.0.0.1', family: 4 }]));
};

describe('Two processes that send', () => {
  let receiver: Receiver;
  let first: TestApp;
  let second: TestApp;
  let owner: Member;
  const egress = new Egress(['127.0.0.0/8'], resolver, 60_000, false);

  beforeAll(async () => {
    receiver = await Receiver.listen();
    const override: NonNullable<Parameters<typeof bootWorker>[0]>['override'] = (builder) =>
      builder.overrideProvider(WebhookEgress).useValue(egress);
    first = await bootWorker({ env: HERE, override });
    second = await bootWorker({ env: HERE, override, db: first.db });
    owner = await makeMember(first, { role: 'owner' });
  });
  afterAll(async () => {
    await second.close();
    await first.close();
    await receiver.close();
  });
  const createTasks = (count: number) =>
    Promise.all(Array.from({ length: count }, () => createTask(owner.client, { content: 'x' })));
  const create = (url: string) => createWebhook(owner.client, { url, types: ['task.created'] });
  const port = () => new URL(receiver.url('/')).port;

  it('have at most eight requests to one endpoint under way together', async () => {
    const waiting: (() => void)[] = [];
    receiver.on('/eight', (_received, response) => void waiting.push(() => response.end()));
    const { webhook } = await create(receiver.url('/eight'));
    await createTasks(24);
    await until('eight to be under way', () => waiting.length >= 8);
    const answering = setInterval(() => waiting.splice(0).forEach((answer) => answer()), 5);
    await until('all to arrive', async () =>
      (await deliveriesOf(owner.client, webhook.id)).every(({ status }) => status === 'delivered'),
    );
    clearInterval(answering);
    expect(receiver.most.get('/eight')).toBe(8);
    expect(new Set(receiver.at('/eight').map(({ event }) => event.id)).size).toBe(24);
  });

  it('send on while names are looked up whose servers are dead, and follow no name to an inner address', async () => {
    const dead = await create(`http://dead.example:${port()}/dead`);
    const named = await create(`http://any.example:${port()}/named`);
    const inside = await create(`http://inside.example:${port()}/inside`);
    await createTasks(12);
    await receiver.gets('/named', 12);
    const refused = await becomes(owner.client, await askFor(owner.client, `${inside.webhook.id}/test`), {
      status: 'failed',
    });
    expect(refused.lastAttempt?.error).toBe(
      'inside.example is not a public address, and lies in no network that the operator allows.',
    );
    expect([receiver.at('/dead'), receiver.at('/inside')]).toEqual([[], []]);
    expect((await deliveriesOf(owner.client, dead.webhook.id, 'status=pending')).length).toBe(12);
    expect((await deliveriesOf(owner.client, named.webhook.id)).length).toBe(12);
  });

  slowIt('hand back at their end what is under way, and that is no attempt', async () => {
    receiver.on('/slow', () => undefined);
    const { webhook } = await create(receiver.url('/slow'));
    await createTasks(1);
    await receiver.gets('/slow');
    await Promise.all([first, second].map(({ app }) => app.get(DeliverySender).beforeApplicationShutdown()));
    const rows = await first.db.query('SELECT status, attempts, lease_until FROM webhook_deliveries WHERE webhook_id = $1', [webhook.id]); // prettier-ignore
    expect(rows).toEqual([{ status: 'pending', attempts: 0, lease_until: null }]);
  });
});
