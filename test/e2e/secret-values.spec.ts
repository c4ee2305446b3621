import { secretCheck } from '../../src/operator/doctor/secret.check.js';
import { SecretsOf, type UsableSecret } from '../../src/resources/secrets/secrets-of.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { bootApp, useService } from '../harness/app.js';
import { Client, makeMember } from '../harness/client.js';
import { findings, line } from '../harness/doctor.js';
import { createProject } from '../harness/projects.js';
import { BINDING, createSecret, postSecret, type SecretBody, SECRETS } from '../harness/secrets.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAR_LIMITS } from '../harness/limits.js';

const SANDBOX = { network: 'allow' as const, allowHosts: ['api.github.com'] };

describe('The value of a secret (reference §24)', () => {
  const service = useService(() => bootApp({ config: { sandbox: SANDBOX } }));
  const makeOwner = () => makeMember(service, { role: 'owner' });
  const secretsOf = () => service.app.get(SecretsOf, { strict: false });
  const short = (secrets: UsableSecret[]) => secrets.map(({ name, scope, value }) => `${name} ${scope} ${value}`);

  it('is nowhere in the clear: not in an answer, the log, the audit, an event, a stored answer or any other table', async () => {
    const folder = temporaryFolder();
    const CONFIG_FILE = join(folder.path, 'config.json');
    writeFileSync(CONFIG_FILE, JSON.stringify({ ...FAR_LIMITS, sandbox: SANDBOX }));
    const child = await ServiceProcess.start({
      DATABASE_URL: service.db.url,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      DATA_DIR: join(folder.path, 'data'),
      CONFIG_FILE,
      LOG_LEVEL: 'trace',
      ROLE: 'api',
    });
    try {
      const owner = await makeOwner();
      const client = new Client(child.url, owner.key.secret);
      const values = ['canary-one-7f3a9b', 'canary-two-7f3a9b', 'canary-three-7f3a9b'];
      const [first = '', second = '', third = ''] = values;
      const headers = { 'Idempotency-Key': 'once' };
      const json = { name: 'TOKEN', value: first, bindings: [BINDING] };
      const made = await client.post<{ secret: SecretBody }>(SECRETS, json, { headers });
      const path = `${SECRETS}/${made.body.secret.id}`;
      const raw = (body: string) => client.request('POST', SECRETS, { raw: body, headers: { 'Content-Type': 'application/json' } });
      const wrong = [
        await client.post(SECRETS, json, { headers }),
        await client.post(SECRETS, { ...json, value: `${third}\n` }),
        await client.post(SECRETS, { ...json, value: [third] }),
        await client.post(SECRETS, { ...json, value: { [third]: third } }),
        await client.post(SECRETS, { ...json, values: third }),
        await client.post(SECRETS, { ...json, value: third, bindings: [] }),
        await client.patch(path, { value: `${third}é` }),
        await raw(`{"name": "X", "value": "${third}`),
        await raw(`{"name": "X", "value": "${third}\\u0000"}`),
        await raw(`{"value": "${third}", "value": "${third}"}`),
        await client.as(null).post(SECRETS, { ...json, value: third }),
        await client.patch(`${SECRETS}/x`, { value: third }),
      ];
      expect(wrong.map(({ status }) => status)).toEqual([409, 400, 400, 400, 400, 400, 400, 400, 400, 400, 401, 404]);
      const right = [
        made,
        await client.patch(path, { value: second }),
        await client.get(path),
        await client.get(SECRETS),
        await client.get('/v1/audit'),
        await client.get('/v1/events'),
        await client.delete(path),
        await postSecret(client, { name: 'KEPT', value: second }),
      ];
      expect(right.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 200, 200, 201]);
      const acts = await service.db.query<{ action: string; fields: string[] | null }>(
        `SELECT action, fields FROM audit_log WHERE actor_id = $1 AND outcome = 'done' ORDER BY at, id`,
        [owner.user.id],
      );
      expect(acts.map(({ action, fields }) => `${action} ${fields?.join() ?? ''}`.trim())).toEqual([
        ...['secret.create', 'secret.update value', 'secret.delete', 'secret.create'],
      ]);
      await child.end();
      expect(child.log).toContain('/v1/secrets/:secretId');
      const tables = await service.db.query<{ name: string }>(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
      );
      for (const value of values) {
        const forms = ['utf8', 'base64', 'hex'] as const;
        for (const form of forms.map((one) => Buffer.from(value).toString(one).replace(/=+$/, ''))) {
          const shown = [...wrong, ...right].filter(({ text }) => text.includes(form));
          expect([shown.map(({ text }) => text), child.log.includes(form)]).toEqual([[], false]);
          for (const { name } of tables) {
            const found = await service.db.query(`SELECT 1 FROM ${name} t WHERE strpos(t::text, $1) > 0 LIMIT 1`, [form]);
            expect([name, found]).toEqual([name, []]);
          }
        }
      }
    } finally {
      await child.end('SIGKILL');
      folder.remove();
    }
  }, 120_000); // prettier-ignore

  it('is for tasks: the user’s own before the project’s before the workspace’s, by name', async () => {
    const owner = await makeOwner();
    const member = await makeMember(service, { workspace: owner.workspace });
    const [project, other] = [await createProject(owner), await createProject(owner)];
    const inProject = { scope: 'project', projectId: project.id };
    await createSecret(owner.client, { name: 'A', value: 'a-of-workspace' });
    await createSecret(owner.client, { name: 'A', value: 'a-of-project', ...inProject });
    await createSecret(member.client, { name: 'A', value: 'a-of-member', scope: 'user' });
    await createSecret(owner.client, { name: 'B', value: 'b-of-project', ...inProject });
    await createSecret(owner.client, { name: 'B', value: 'b-of-workspace' });
    await createSecret(owner.client, { name: 'C', value: 'c-of-owner', scope: 'user' });
    const of = async (user: typeof owner, projectId: string | null, names: string[] | 'all' = 'all') =>
      short(await secretsOf().resolve(owner.workspace.id, user.user.id, projectId, names));
    expect(await of(member, project.id)).toEqual(['A user a-of-member', 'B project b-of-project']);
    expect(await of(member, other.id)).toEqual(['A user a-of-member', 'B workspace b-of-workspace']);
    expect(await of(owner, null)).toEqual(['A workspace a-of-workspace', 'B workspace b-of-workspace', 'C user c-of-owner']);
    expect(await of(owner, project.id, ['A', 'UNKNOWN'])).toEqual(['A project a-of-project']);
    expect(await of(owner, project.id, [])).toEqual([]);
  }); // prettier-ignore

  it('is for tasks: of one variable the nearest too', async () => {
    const owner = await makeOwner();
    const project = await createProject(owner);
    const inProject = { scope: 'project', projectId: project.id };
    await createSecret(owner.client, { name: 'A', value: 'a-of-owner', env: 'V', scope: 'user' });
    await createSecret(owner.client, { name: 'B', value: 'b-of-project', env: 'V', ...inProject });
    await createSecret(owner.client, { name: 'V', value: 'v-of-workspace' });
    const of = async (projectId: string | null, names: string[] | 'all' = 'all') =>
      short(await secretsOf().resolve(owner.workspace.id, owner.user.id, projectId, names));
    expect(await of(project.id)).toEqual(['A user a-of-owner']);
    expect(await of(project.id, ['B', 'V'])).toEqual(['B project b-of-project']);
    expect(await of(null, ['B', 'V'])).toEqual(['V workspace v-of-workspace']);
  });

  it('is given with its bindings and its version, and anew at each look', async () => {
    const { client, workspace, user } = await makeOwner();
    const { id } = await createSecret(client, { env: 'GH_TOKEN' });
    const look = async () => (await secretsOf().resolve(workspace.id, user.id, null, 'all'))[0];
    const place = { header: 'Authorization', form: 'bearer', user: null };
    expect(await look()).toEqual({
      ...{ id, name: 'TOKEN', scope: 'workspace', env: 'GH_TOKEN', version: 1, value: 'canary-value-4711' },
      bindings: [{ host: 'api.github.com', port: 443, methods: null, paths: null, place }],
    });
    await client.patch(`${SECRETS}/${id}`, { value: 'another-value' });
    expect(await look()).toMatchObject({ version: 2, value: 'another-value' });
    await client.delete(`${SECRETS}/${id}`);
    expect(await look()).toBeUndefined();
  });

  it('is not for viewers, nor for those who are no member any more', async () => {
    const owner = await makeOwner();
    const member = await makeMember(service, { workspace: owner.workspace });
    await createSecret(owner.client);
    const look = async () =>
      (await secretsOf().resolve(owner.workspace.id, member.user.id, null, 'all')).map(({ name }) => name);
    expect(await look()).toEqual(['TOKEN']);
    await owner.client.patch(`/v1/members/${member.user.id}`, { role: 'viewer' });
    expect(await look()).toEqual([]);
    await service.app.get(MembershipsService).remove(owner.workspace.id, member.user.id);
    expect(await look()).toEqual([]);
  });

  it('of one row is none in another, and one of another SECRET_KEY is none', async () => {
    const { client, workspace, user } = await makeOwner();
    const [one, two] = [await createSecret(client, { name: 'ONE' }), await createSecret(client, { name: 'TWO' })];
    await service.db.query('UPDATE secrets SET value = (SELECT value FROM secrets WHERE id = $1) WHERE id = $2', [one.id, two.id]); // prettier-ignore
    expect(short(await secretsOf().resolve(workspace.id, user.id, null, 'all'))).toEqual([
      'ONE workspace canary-value-4711',
      'TWO workspace null',
    ]);
  });

  it('is said to be used, and the time moves forward alone', async () => {
    const { client } = await makeOwner();
    const { id } = await createSecret(client);
    const usedAt = async () => (await client.get<{ secret: SecretBody }>(`${SECRETS}/${id}`)).body.secret;
    const [earlier, later] = [new Date('2026-11-01T09:00:00.000Z'), new Date('2026-11-02T09:00:00.000Z')];
    await secretsOf().used([id], later);
    await secretsOf().used([id], earlier);
    expect(await usedAt()).toMatchObject({ usedAt: later.toISOString(), version: 1 });
  });
});

describe('doctor on secrets of tasks (reference §16)', () => {
  const service = useService(() => bootApp({ config: { sandbox: SANDBOX } }));
  const look = async (env: object) =>
    line(await findings([secretCheck], { env: { DATABASE_URL: service.db.url, ...env } }), 'secret');

  it('counts those that SECRET_KEY cannot read', async () => {
    await createSecret((await makeMember(service, { role: 'owner' })).client);
    const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
    expect(await look({ SECRET_KEY })).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('2 of 2 secrets in'),
    });
    const found = await look({});
    expect(found).toMatchObject({ status: 'fail', detail: expect.stringContaining('0 of 2 secrets in') });
  });
});
