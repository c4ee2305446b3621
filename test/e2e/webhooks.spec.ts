// Webhooks as their workspace's owners and admins have them (reference §18); their log is in webhook-log.spec.ts, what is sent in webhook-deliveries.spec.ts.
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { bootApp, useService } from '../harness/app.js';
import { CALLERS, makeCaller } from '../harness/callers.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createProject } from '../harness/projects.js';
import { createTask } from '../harness/tasks.js';
import { createWebhook, deliveriesOf, readDelivery, readWebhook, type WebhookBody } from '../harness/webhooks.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let urls = 0;
const newUrl = () => `https://hooks.example/${(urls += 1)}`;

describe('Webhooks (reference §18)', () => {
  const service = useService(() => bootApp({ env: { WEBHOOK_NETWORKS: '10.0.0.0/8,fd00::/8' } }));
  let owner: Member;
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });

  const create = (json: object, client = owner.client) => client.post<ErrorBody>('/v1/webhooks', json);
  const change = (id: string, json: object) => owner.client.patch<{ webhook: WebhookBody }>(`/v1/webhooks/${id}`, json);
  const rotate = async (id: string, json: object = {}) =>
    (await owner.client.post<{ webhook: WebhookBody; secret: string }>(`/v1/webhooks/${id}/secret`, json)).body;

  it('are made, read, listed, changed and deleted', async () => {
    const given = {
      url: 'https://hooks.example/a?b=c',
      types: ['task.completed', 'automation.*'],
      description: 'Chat',
    };
    const made = await owner.client.post<{ webhook: WebhookBody; secret: string }>('/v1/webhooks', given);
    const { webhook, secret } = made.body;
    expect(webhook).toEqual({
      id: expect.any(String),
      ...given,
      projectId: null,
      status: 'enabled',
      disabledReason: null,
      secretPrefix: secret.slice(0, 12),
      previousSecretUntil: null,
      failingSince: null,
      lastSuccessAt: null,
      createdBy: { id: owner.user.id, name: expect.any(String) },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect([made.status, made.headers.get('location')]).toEqual([201, `/v1/webhooks/${webhook.id}`]);
    const other = await createWebhook(owner.client, { url: newUrl() });
    expect(await readWebhook(owner.client, webhook.id)).toEqual(webhook);
    const list = await owner.client.get<{ webhooks: WebhookBody[] }>('/v1/webhooks');
    expect(list.body).toEqual({ webhooks: [other.webhook, webhook], nextCursor: null });

    const project = await createProject(owner);
    const fields = { url: newUrl(), types: ['*'], description: null, projectId: project.id };
    const changed = (await change(webhook.id, fields)).body.webhook;
    expect(changed).toEqual({ ...webhook, ...fields, updatedAt: expect.any(String) });
    expect((await change(webhook.id, {})).body.webhook).toEqual(changed);
    expect((await change(webhook.id, { projectId: null })).body.webhook.projectId).toBeNull();

    const gone = { deleted: true, id: webhook.id };
    expect((await owner.client.delete(`/v1/webhooks/${webhook.id}`)).body).toEqual(gone);
    expect((await owner.client.delete(`/v1/webhooks/${webhook.id}`)).status).toBe(404);
  });

  it('are for owners and admins of the workspace alone, people and service accounts', async () => {
    const { webhook } = await createWebhook(owner.client, { url: newUrl() });
    for (const kind of CALLERS) {
      const { client } = await makeCaller(service, owner.workspace, kind);
      const may = kind.role === 'owner' || kind.role === 'admin';
      const answers = [
        await client.get<ErrorBody>('/v1/webhooks'),
        await client.get<ErrorBody>(`/v1/webhooks/${webhook.id}`),
        await client.get<ErrorBody>(`/v1/webhooks/${webhook.id}/deliveries`),
        await client.post<ErrorBody>(`/v1/webhooks/${webhook.id}/secret`, {}),
        // The role is told before the body is read.
        ...(may ? [] : [await client.post<ErrorBody>('/v1/webhooks', { nonsense: true })]),
      ];
      const told = answers.map(({ status, body }) => (status === 403 ? body.error.code : status));
      expect([kind, told]).toEqual([kind, told.map(() => (may ? 200 : 'role_not_allowed'))]);
    }
  });

  it('are refused with what is wrong', async () => {
    const url = 'https://hooks.example/';
    const wrong: [json: object, param: string][] = [
      [{}, 'url'],
      [{ url }, 'types'],
      ...[[], ['task.*', 'task.*'], ['message.created'], ['webhook.test'], Array<string>(51).fill('*')].map(
        (types): [object, string] => [{ url, types }, 'types'],
      ),
      [{ url, types: ['*'], description: 'x'.repeat(4001) }, 'description'],
      ...[
        ...[
          'hooks.example',
          'ftp://hooks.example/',
          `${url}a b`,
          'https://hooks.exa\nmple/',
          'https://ann@hooks.example/',
        ],
        ...['https://:secret@hooks.example/', `${url}${'x'.repeat(2027)}`, `${url}${'é'.repeat(1000)}`],
      ].map((one): [object, string] => [{ url: one, types: ['*'] }, 'url']),
    ];
    for (const [json, param] of wrong) {
      const { status, body } = await create(json);
      expect([json, status, body.error]).toMatchObject([json, 400, { code: 'invalid_field', param }]);
    }
  });

  // Every spelling that URLs know of an address of this host, of its networks and of the cloud's.
  it('are refused when they name an address that is not public, however it is spelled', async () => {
    const { webhook } = await createWebhook(owner.client, { url: newUrl() });
    const hosts = [
      ...['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '0.0.0.0', '①②⑦.⓪.⓪.①', '127.0.0.1.'],
      ...[
        '[::1]',
        '[::]',
        '[::ffff:127.0.0.1]',
        '[::ffff:7f00:1]',
        '[64:ff9b::7f00:1]',
        '[2002:7f00:1::]',
        '[fe80::1]',
      ],
      ...['169.254.169.254', '192.168.1.1', '100.64.0.1', '172.16.0.1', '[fec0::1]', '224.0.0.1', '255.255.255.255'],
    ];
    for (const url of hosts.flatMap((host) => [`https://${host}/`, `http://${host}/`])) {
      const changed = await owner.client.patch<ErrorBody>(`/v1/webhooks/${webhook.id}`, { url });
      for (const { status, body } of [await create({ url, types: ['*'] }), changed]) {
        expect([url, status, body.error]).toMatchObject([url, 400, { code: 'invalid_field', param: 'url' }]);
      }
    }
  });

  it('addresses in networks of the operator are taken, http:// there alone, and names with it', async () => {
    const urls = ['https://10.1.2.3/', 'http://10.1.2.3:8080/', 'http://[::ffff:10.1.2.3]/', 'https://[fd00::1]/', 'http://inside.example/'];
    for (const url of urls) expect([url, (await create({ url, types: ['*'] })).status]).toEqual([url, 201]);
    for (const url of ['http://8.8.8.8/', 'http://11.1.2.3/']) expect([url, (await create({ url, types: ['*'] })).status]).toEqual([url, 400]);
    const strict = await bootApp();
    const stranger = await makeMember(strict, { role: 'owner' });
    for (const url of ['http://inside.example/', 'https://10.1.2.3/', 'http://10.1.2.3/']) {
      expect([url, (await create({ url, types: ['*'] }, stranger.client)).status]).toEqual([url, 400]);
    }
    expect((await create({ url: 'https://8.8.8.8/', types: ['*'] }, stranger.client)).status).toBe(201);
    await strict.close();
  }); // prettier-ignore

  it('are one for each URL of a workspace, however it is spelled, and 20 in all', async () => {
    const { webhook } = await createWebhook(owner.client, { url: 'https://hooks.example/x' });
    const again = await create({ url: 'https://HOOKS.example:443/y/../x#there', types: ['*'] });
    expect([again.status, again.body.error.code]).toEqual([409, 'webhook_exists']);
    const stranger = await makeMember(service, { role: 'admin' });
    await createWebhook(stranger.client, { url: 'https://hooks.example/x' });
    const made = await Promise.all(Array.from({ length: 24 }, () => create({ url: newUrl(), types: ['*'] })));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(19);
    const refused = made.filter(({ status }) => status !== 201).map(({ body }) => body.error.code);
    expect(new Set(refused)).toEqual(new Set(['too_many_webhooks']));
    const [other] = (await owner.client.get<{ webhooks: WebhookBody[] }>('/v1/webhooks')).body.webhooks;
    const taken = await owner.client.patch<ErrorBody>(`/v1/webhooks/${other?.id}`, { url: webhook.url });
    expect([taken.status, taken.body.error.code]).toEqual([409, 'webhook_exists']);
    // Its own is not in its way.
    expect((await change(webhook.id, { url: webhook.url })).status).toBe(200);
  });

  it('of one URL that is made many times at once there is one', async () => {
    const url = newUrl();
    const made = await Promise.all(Array.from({ length: 8 }, () => create({ url, types: ['*'] })));
    expect(made.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  });

  it('the secret is 32 bytes, shown twice and stored in no readable form', async () => {
    const { webhook, secret } = await createWebhook(owner.client, { url: newUrl() });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const next = await rotate(webhook.id, { overlapSeconds: 3600 });
    expect(next.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(next.secret).not.toBe(secret);
    const until = Date.parse(next.webhook.previousSecretUntil ?? '') - Date.now();
    expect(until).toBeGreaterThan(HOUR - 60_000);
    expect(until).toBeLessThanOrEqual(HOUR);
    expect(Date.parse((await rotate(webhook.id)).webhook.previousSecretUntil ?? '') - Date.now()).toBeGreaterThan(DAY - 60_000);
    expect((await rotate(webhook.id, { overlapSeconds: 0 })).webhook.previousSecretUntil).toBeNull();
    for (const overlapSeconds of [-1, 604_801, 1.5, null]) {
      expect((await owner.client.post(`/v1/webhooks/${webhook.id}/secret`, { overlapSeconds })).status).toBe(400);
    }
    const shown = [`/v1/webhooks/${webhook.id}`, '/v1/webhooks', '/v1/audit'];
    const answers = await Promise.all(shown.map(async (path) => (await owner.client.get(path)).text));
    const [rows] = await service.db.query<{ text: string }>(
      `SELECT concat((SELECT string_agg(w::text, ' ') FROM webhooks w), (SELECT string_agg(k::text, ' ') FROM idempotency_keys k)) AS text`,
    );
    for (const text of [...answers, rows?.text ?? '']) {
      for (const one of [secret, next.secret]) {
        expect(text).not.toContain(one.slice(12, 40));
        expect(text).not.toContain(Buffer.from(one.slice(6), 'base64').toString('hex'));
      }
    }
  }); // prettier-ignore

  it('get the events of their types and project, from when they are made on', async () => {
    const early = await createTask(owner.client, { content: 'x' });
    const [project, elsewhere] = [await createProject(owner), await createProject(owner)];
    const hooks = {
      all: ['*'],
      tasks: ['task.*'],
      created: ['task.created', 'task.failed'],
      automations: ['automation.*'],
    };
    const ids: Record<string, string> = {};
    for (const [name, types] of Object.entries(hooks)) {
      ids[name] = (await createWebhook(owner.client, { url: newUrl(), types })).webhook.id;
    }
    ids['project'] = (await createWebhook(owner.client, { url: newUrl(), projectId: project.id })).webhook.id;
    const outside = await createTask(owner.client, { content: 'x', projectId: elsewhere.id });
    const inside = await createTask(owner.client, { content: 'x', projectId: project.id });
    await owner.client.post(`/v1/tasks/${inside.id}/cancel`);
    const automation = { name: 'A', content: 'x', cron: '0 9 * * *', projectId: project.id };
    const made = await owner.client.post<{ automation: { id: string } }>('/v1/automations', automation);
    await owner.client.post(`/v1/automations/${made.body.automation.id}/pause`);
    await owner.client.delete(`/v1/tasks/${early.id}`);
    const got = async (name: string) =>
      (await deliveriesOf(owner.client, ids[name] ?? '')).map(({ eventType, taskId }) => {
        const which = taskId === inside.id ? 'inside' : taskId === outside.id ? 'outside' : taskId === early.id ? 'early' : '';
        return `${eventType} ${which}`.trim();
      });
    const tasks = ['task.deleted early', 'task.cancelled inside', 'task.created inside', 'task.created outside'];
    expect(await got('all')).toEqual([tasks[0], 'automation.paused', ...tasks.slice(1)]);
    expect(await got('tasks')).toEqual(tasks);
    expect(await got('created')).toEqual(['task.created inside', 'task.created outside']);
    expect(await got('automations')).toEqual(['automation.paused']);
    expect(await got('project')).toEqual(['automation.paused', 'task.cancelled inside', 'task.created inside']);
    // Without its project it is told of nothing more.
    await owner.client.delete(`/v1/projects/${project.id}`);
    await createTask(owner.client, { content: 'x' });
    expect(await got('project')).toHaveLength(3);
    expect((await readWebhook(owner.client, ids['project'] ?? '')).projectId).toBe(project.id);
  }); // prettier-ignore

  it('are told ids, status and metadata, and no content', async () => {
    const { webhook } = await createWebhook(owner.client, { url: newUrl() });
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`${n}`.padEnd(64, '\u0001'), '\u0001'.repeat(512)]));
    const task = await createTask(owner.client, { content: 'canary', title: 'canary', metadata });
    await service.db.query(
      `UPDATE tasks SET status = 'failed', status_reason = '{"code": "model_error", "message": "canary", "retryable": true}' WHERE id = $1`,
      [task.id],
    );
    const [failed] = await deliveriesOf(owner.client, webhook.id);
    if (failed === undefined) throw new Error('Nothing was delivered.');
    const { body } = await readDelivery(owner.client, failed);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(65_536);
    expect(body).not.toContain('canary');
    expect(JSON.parse(body)).toEqual({
      id: `${task.id}-${failed.eventId.split('-').at(-1)}`,
      type: 'task.failed',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: {
        taskId: task.id,
        seq: Number(failed.eventId.split('-').at(-1)),
        status: 'failed',
        statusReason: { code: 'model_error', message: expect.any(String), retryable: true },
        projectId: null,
        source: { type: 'api', automationId: null, automationRunId: null },
        metadata,
        usage: expect.objectContaining({ inputTokens: 0, cost: null }),
        interactionId: null,
      },
    });
  }); // prettier-ignore

  it('lose what waits when they are disabled, and enabling makes up for nothing', async () => {
    const { webhook } = await createWebhook(owner.client, { url: newUrl() });
    await createTask(owner.client, { content: 'x' });
    const disabled = (await change(webhook.id, { status: 'disabled' })).body.webhook;
    expect(disabled).toMatchObject({ status: 'disabled', disabledReason: { code: 'manual' } });
    await createTask(owner.client, { content: 'x' });
    expect((await change(webhook.id, { status: 'disabled' })).body.webhook).toEqual(disabled);
    const enabled = (await change(webhook.id, { status: 'enabled' })).body.webhook;
    expect(enabled).toMatchObject({ status: 'enabled', disabledReason: null });
    const [only, ...more] = await deliveriesOf(owner.client, webhook.id);
    expect([only, more]).toMatchObject([{ status: 'cancelled', nextAttemptAt: null, attempts: 0 }, []]);
  });

  it('are disabled when their creator is removed, or no longer an owner or admin', async () => {
    const members = service.app.get(MembershipsService);
    for (const end of ['removed', 'handed over', 'member'] as const) {
      const admin = await makeMember(service, { workspace: owner.workspace, role: 'admin' });
      const { webhook } = await createWebhook(admin.client, { url: newUrl() });
      await createTask(owner.client, { content: 'x' });
      const { workspace, user } = admin;
      await members.add(workspace.id, user.id, 'owner');
      expect((await readWebhook(owner.client, webhook.id)).status).toBe('enabled');
      if (end === 'member') await members.add(workspace.id, user.id, 'member');
      else await members.remove(workspace.id, user.id, end === 'removed' ? null : owner.user.id);
      const found = await readWebhook(owner.client, webhook.id);
      expect([end, found]).toMatchObject([end, { status: 'disabled', disabledReason: { code: 'owner_removed' } }]);
      expect((await deliveriesOf(owner.client, webhook.id)).map(({ status }) => status)).toEqual(['cancelled']);
      // Any owner or admin may enable it.
      expect((await change(webhook.id, { status: 'enabled' })).body.webhook.status).toBe('enabled');
    }
  });
});
