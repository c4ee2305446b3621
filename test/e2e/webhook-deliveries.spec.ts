// What a webhook's endpoint gets (reference §18): a service that works, and endpoints on this host.
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createTask, runTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import {
  askFor,
  becomes,
  createWebhook,
  deliveriesOf,
  type DeliveryBody,
  HERE,
  isSignedWith,
  readDelivery,
  readWebhook,
  Receiver,
} from '../harness/webhooks.js';
import { slowIt } from '../harness/slow.js';

/** An endpoint that asks for it: nothing comes by itself while the test looks. */
const LATER = { 'Retry-After': '3600' };

describe('A delivery (reference §18)', () => {
  let receiver: Receiver;
  let owner: Member;
  const service = useService(() => bootWorker({ env: HERE }));
  beforeAll(async () => {
    receiver = await Receiver.listen();
  });
  afterAll(() => receiver.close());
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });

  let paths = 0;
  /** A webhook with an endpoint of its own. */
  const hook = async (types = ['task.created'], client = owner.client) => {
    const path = `/${(paths += 1)}`;
    const { webhook, secret } = await createWebhook(client, { url: receiver.url(path), types });
    return { id: webhook.id, path, secret };
  };
  const only = async (id: string): Promise<DeliveryBody> => {
    const [one, ...more] = await deliveriesOf(owner.client, id);
    if (one === undefined || more.length > 0) throw new Error(`One delivery and ${more.length} more are there.`);
    return one;
  };
  const deliver = async (id: string): Promise<DeliveryBody> => {
    await createTask(owner.client, { content: 'x' });
    return only(id);
  };
  const due = (id: string) =>
    service.db.query(`UPDATE webhook_deliveries SET next_attempt_at = now() WHERE id = $1 AND status = 'pending'`, [
      id,
    ]);

  it('comes for every event, in the form of Standard Webhooks', async () => {
    const { id, path, secret } = await hook(['task.*']);
    const task = await runTask(owner.client, '```bash\ntrue\n```', { metadata: { ticket: 'MILL-7' } });
    const got = await receiver.gets(path, 3);
    expect(new Set(got.map(({ event }) => event.type))).toEqual(
      new Set(['task.created', 'task.running', 'task.completed']),
    );
    for (const received of got) {
      const { headers, event } = received;
      expect(isSignedWith(secret, received)).toBe(true);
      expect(headers['content-type']).toBe('application/json');
      expect([headers['webhook-id'], event.data]).toMatchObject([
        event.id,
        { taskId: task.id, metadata: { ticket: 'MILL-7' } },
      ]);
      expect(event.id).toBe(`${task.id}-${String(event.data['seq'])}`);
      expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
    }
    const log = await until('all to be recorded', async () => {
      const found = await deliveriesOf(owner.client, id);
      return found.every(({ status }) => status === 'delivered') && found;
    });
    for (const delivery of log) {
      const whole = await readDelivery(owner.client, delivery);
      expect(got.map(({ body }) => body)).toContain(whole.body);
      const lastAttempt = { at: expect.any(String), durationMs: expect.any(Number), status: 200, error: null };
      expect(whole).toMatchObject({ attempts: 1, nextAttemptAt: null, lastAttempt, redelivery: false });
      // Of an address that is not public nothing of the answer is kept.
      expect(whole.attemptLog).toEqual([{ ...lastAttempt, response: null }]);
    }
    expect((await readWebhook(owner.client, id)).lastSuccessAt).not.toBeNull();
  });

  it('is signed with both secrets until the overlap is over', async () => {
    const { id, path, secret } = await hook();
    const rotate = async (overlapSeconds: number) =>
      (await owner.client.post<{ secret: string }>(`/v1/webhooks/${id}/secret`, { overlapSeconds })).body.secret;
    const second = await rotate(3600);
    await askFor(owner.client, `${id}/test`);
    const [both] = await receiver.gets(path);
    if (both === undefined) throw new Error('Nothing came.');
    expect([isSignedWith(secret, both), isSignedWith(second, both)]).toEqual([true, true]);
    expect(String(both.headers['webhook-signature'])).toMatch(/^v1,\S+ v1,\S+$/);
    await service.db.query('UPDATE webhooks SET previous_secret_until = now() WHERE id = $1', [id]);
    await askFor(owner.client, `${id}/test`);
    const [, later] = await receiver.gets(path, 2);
    if (later === undefined) throw new Error('Nothing more came.');
    expect([isSignedWith(secret, later), isSignedWith(second, later)]).toEqual([false, true]);
    const third = await rotate(0);
    await askFor(owner.client, `${id}/test`);
    const [, , last] = await receiver.gets(path, 3);
    if (last === undefined) throw new Error('Nothing more came.');
    expect([isSignedWith(second, last), isSignedWith(third, last)]).toEqual([false, true]);
  });

  it('that fails comes again with the same id and body, and a new time and signature', async () => {
    const { id, path, secret } = await hook();
    receiver.answer(path, 500, LATER);
    const delivery = await deliver(id);
    const failed = await becomes(owner.client, delivery, { attempts: 1 });
    expect(failed).toMatchObject({ status: 'pending', lastAttempt: { status: 500, error: null } });
    const wait = Date.parse(failed.nextAttemptAt ?? '') - Date.parse(failed.lastAttempt?.at ?? '');
    expect(wait).toBeGreaterThanOrEqual(4_000);
    expect((await readWebhook(owner.client, id)).failingSince).not.toBeNull();
    receiver.answer(path, 204);
    await due(delivery.id);
    const whole = await becomes(owner.client, delivery, { status: 'delivered', attempts: 2 });
    expect(whole.attemptLog.map(({ status }) => status)).toEqual([500, 204]);
    const [first, second] = receiver.at(path);
    if (first === undefined || second === undefined) throw new Error('Two requests are expected.');
    expect([second.body, second.headers['webhook-id']]).toEqual([first.body, first.headers['webhook-id']]);
    for (const one of [first, second]) expect(isSignedWith(secret, one)).toBe(true);
    expect((await readWebhook(owner.client, id)).failingSince).toBeNull();
  });

  slowIt('has ten attempts, then it has failed; another one of the event can be asked for', async () => {
    const { id, path } = await hook();
    receiver.answer(path, 503, LATER);
    const delivery = await deliver(id);
    for (let attempts = 1; attempts < 10; attempts += 1) {
      await becomes(owner.client, delivery, { attempts, status: 'pending' });
      await due(delivery.id);
    }
    const failed = await becomes(owner.client, delivery, { attempts: 10, status: 'failed' });
    expect([failed.nextAttemptAt, failed.attemptLog.length]).toEqual([null, 10]);
    receiver.answer(path, 200);
    const again = await askFor(owner.client, `${id}/deliveries/${delivery.id}/redeliver`);
    expect(await becomes(owner.client, again, { status: 'delivered' })).toMatchObject({
      eventId: delivery.eventId,
      attempts: 1,
    });
  });

  it('waits longer when the endpoint asks for it, and follows no redirect', async () => {
    const { id, path } = await hook();
    receiver.answer(path, 302, { 'Retry-After': '7200', location: receiver.url('/elsewhere') });
    const { nextAttemptAt, lastAttempt } = await becomes(owner.client, await deliver(id), { attempts: 1 });
    expect(lastAttempt?.status).toBe(302);
    const wait = Date.parse(nextAttemptAt ?? '') - Date.parse(lastAttempt?.at ?? '');
    expect(wait).toBeGreaterThanOrEqual(7_199_000);
    expect(wait).toBeLessThan(7_260_000);
    expect(receiver.at('/elsewhere')).toEqual([]);
  });

  it('says why there was no answer, without the address that a name resolved to', async () => {
    const { id } = await hook();
    const url = 'http://localhost:1/';
    await owner.client.patch(`/v1/webhooks/${id}`, { url });
    const refused = await becomes(owner.client, await askFor(owner.client, `${id}/test`), { status: 'failed' });
    expect(refused.lastAttempt).toMatchObject({
      status: null,
      error: expect.stringMatching(/^The connection was refused/),
    });
    // Written when the operator allowed the network, and sent now that he does not.
    await service.db.query(`UPDATE webhooks SET address = 'https://10.0.0.1/' WHERE id = $1`, [id]);
    const blocked = await becomes(owner.client, await askFor(owner.client, `${id}/test`), { status: 'failed' });
    expect(blocked.lastAttempt).toMatchObject({ status: null, error: expect.stringContaining('not a public address') });
  });

  it('that is answered 410 disables its webhook, and what waits is cancelled', async () => {
    const { id, path } = await hook();
    receiver.answer(path, 500, LATER);
    const waits = await deliver(id);
    await becomes(owner.client, waits, { attempts: 1 });
    receiver.answer(path, 410);
    const test = await askFor(owner.client, `${id}/test`);
    await becomes(owner.client, test, { status: 'failed' });
    await becomes(owner.client, waits, { status: 'cancelled' });
    const disabled = { status: 'disabled', disabledReason: { code: 'gone' } };
    expect(await readWebhook(owner.client, id)).toMatchObject(disabled);
    // A disabled one is tested all the same, and stays disabled.
    receiver.answer(path, 200);
    await becomes(owner.client, await askFor(owner.client, `${id}/test`), { status: 'delivered' });
    expect(await readWebhook(owner.client, id)).toMatchObject(disabled);
    await createTask(owner.client, { content: 'x' });
    expect(await deliveriesOf(owner.client, id, 'type=task.created')).toHaveLength(1);
  });

  it('that an earlier address answers 410 goes to the one that the webhook has by then, and counts for neither', async () => {
    const { id, path } = await hook();
    const asked = new Promise<() => void>((resolve) =>
      receiver.on(path, (_received, response) => resolve(() => response.writeHead(410).end())),
    );
    const delivery = await deliver(id);
    const answer = await asked;
    await owner.client.patch(`/v1/webhooks/${id}`, { url: receiver.url(`${path}/new`) });
    answer();
    await becomes(owner.client, delivery, { status: 'delivered', attempts: 2 });
    expect(await readWebhook(owner.client, id)).toMatchObject({ status: 'enabled', disabledReason: null });
  });

  it('after five days without a success and 20 failed attempts disables its webhook', async () => {
    const { id, path } = await hook();
    receiver.answer(path, 500);
    const failures = (days: number, attempts: number) =>
      service.db.query(
        `UPDATE webhooks SET failing_since = now() - make_interval(days => $2), failed_attempts = $3 WHERE id = $1`,
        [id, days, attempts],
      );
    const fail = async () => {
      await becomes(owner.client, await askFor(owner.client, `${id}/test`), { status: 'failed' });
      return (await readWebhook(owner.client, id)).status;
    };
    await failures(6, 18);
    expect(await fail()).toBe('enabled');
    await failures(4, 100);
    expect(await fail()).toBe('enabled');
    await createTask(owner.client, { content: 'x' });
    await failures(6, 19);
    expect(await fail()).toBe('disabled');
    expect((await readWebhook(owner.client, id)).disabledReason).toMatchObject({ code: 'failing' });
    const left = await until('what waits to be cancelled', async () => {
      const found = await deliveriesOf(owner.client, id, 'type=task.created');
      return found[0]?.status === 'cancelled' && found;
    });
    expect(left).toHaveLength(1);
  });

  it('to an endpoint that never answers delays no other, and eight are under way at once', async () => {
    const [hangs, works] = [await hook(), await hook()];
    const release: (() => void)[] = [];
    receiver.on(hangs.path, (_received, response) => void release.push(() => response.end()));
    const neighbour = await makeMember(service, { role: 'owner' });
    const theirs = await hook(['task.created'], neighbour.client);
    const many = Array.from({ length: 20 }, () => createTask(owner.client, { content: 'x' }));
    await Promise.all(many);
    await until('eight to be under way', () => receiver.open.get(hangs.path) === 8);
    await receiver.gets(works.path, 20);
    await createTask(neighbour.client, { content: 'x' });
    await receiver.gets(theirs.path);
    const answering = setInterval(() => release.splice(0).forEach((answer) => answer()), 5);
    await receiver.gets(hangs.path, 20);
    clearInterval(answering);
    release.splice(0).forEach((answer) => answer());
    expect(receiver.most.get(hangs.path)).toBe(8);
  });

  it('of a task that is deleted is withdrawn while it waits; task.deleted comes', async () => {
    const { id, path } = await hook(['task.*']);
    receiver.answer(path, 500);
    const task = await createTask(owner.client, { content: 'x', approvals: 'writes' });
    await receiver.gets(path);
    receiver.answer(path, 200);
    await owner.client.delete(`/v1/tasks/${task.id}`);
    const last = await until('the last event', () =>
      receiver.at(path).find(({ event }) => event.type === 'task.deleted'),
    );
    const source = { type: 'api', automationId: null, automationRunId: null };
    expect(last.event.data).toEqual({ taskId: task.id, seq: expect.any(Number), projectId: null, source });
    const left = await deliveriesOf(owner.client, id);
    expect(left.map(({ eventType }) => eventType)).toEqual(['task.deleted']);
  });

  it('whose secret was sealed under another SECRET_KEY fails, and says so', async () => {
    const { id } = await hook();
    await service.db.query(`UPDATE webhooks SET secret = '\\x00' WHERE id = $1`, [id]);
    const failed = await becomes(owner.client, await askFor(owner.client, `${id}/test`), { status: 'failed' });
    expect(failed.lastAttempt?.error).toContain('SECRET_KEY');
  });

  it('that is cancelled while it is sent stays so, unless it arrives', async () => {
    const { id, path } = await hook();
    let answer = (_status: number): void => undefined;
    receiver.on(path, (_received, response) => (answer = (status) => void response.writeHead(status).end()));
    for (const [status, becoming] of [
      [500, 'cancelled'],
      [200, 'delivered'],
    ] as const) {
      // prettier-ignore
      await createTask(owner.client, { content: 'x' });
      const before = receiver.at(path).length;
      await receiver.gets(path, before === 0 ? 1 : before);
      const [delivery] = await until('it to be sent', async () => {
        const found = await deliveriesOf(owner.client, id, 'status=pending');
        return (receiver.open.get(path) ?? 0) > 0 && found;
      });
      if (delivery === undefined) throw new Error('Nothing waits.');
      await owner.client.patch(`/v1/webhooks/${id}`, { status: 'disabled' });
      answer(status);
      await becomes(owner.client, delivery, { attempts: 1, status: becoming });
      await owner.client.patch(`/v1/webhooks/${id}`, { status: 'enabled' });
    }
  });
});
