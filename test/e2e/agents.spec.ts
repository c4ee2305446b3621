import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type AgentBody, AGENTS, changeAgent, createAgent, postAgent } from '../harness/agents.js';
import { bootApp, useService } from '../harness/app.js';
import { createAutomation } from '../harness/automation-requests.js';
import { type Client, type ErrorBody, makeMember } from '../harness/client.js';
import { createEnvironment } from '../harness/environments.js';

const NOTHING = {
  ...{ instructions: '', model: null, effort: null, approvals: 'none', budget: null, repository: null },
  ...{
    tools: { deny: [] },
    skills: null,
    web: null,
    checks: null,
    maxRepairs: null,
    mcpServers: null,
    environment: null,
    outputSchema: null,
  },
  ...{ tags: [], metadata: {} },
};
/** In an order that `jsonb` would not keep. */
const SCHEMA = { type: 'object', properties: { verdict: { type: 'string' }, a: { type: 'integer' } } };
const WHOLE = {
  instructions: 'Review the change. Write no code.',
  model: 'runbook',
  approvals: 'writes',
  budget: { maxSteps: 20, maxTokens: 100_000, maxDurationSeconds: 600, maxCost: null },
  tools: { deny: ['write', 'edit', 'apply_patch'] },
  web: false,
  checks: [{ name: 'test', command: 'npm test', timeoutSeconds: 60, required: true, protect: [], network: false }],
  maxRepairs: 1,
  environment: { slug: 'node', version: 1 },
  outputSchema: SCHEMA,
  tags: ['review'],
  metadata: { team: 'core', valueOf: 'a name like any other' },
};

describe('Agents (reference §27.5)', () => {
  const service = useService(bootApp);
  const makeOwner = () => makeMember(service, { role: 'owner' });
  const patch = <T = { agent: AgentBody }>(client: Client, json: object, slug = 'reviewer') =>
    client.patch<T>(`${AGENTS}/${slug}`, json);
  const refusedBy = ({ status, body }: { status: number; body: ErrorBody }) => [status, body.error.code, body.error.param]; // prettier-ignore
  const versionsOf = async (client: Client, slug = 'reviewer') =>
    (await client.get<{ versions: { version: number; instructions: string; createdBy: { id: string } }[] }>(`${AGENTS}/${slug}/versions`)).body.versions; // prettier-ignore
  const slugs = async (client: Client, query = '') =>
    (await client.get<{ agents: AgentBody[] }>(AGENTS + query)).body.agents.map(({ slug }) => slug);

  it('are made with a slug alone, and answered with 201, their place and version 1', async () => {
    const { client, user } = await makeOwner();
    const { status, body, headers } = await postAgent(client);
    expect([status, headers.get('Location')]).toEqual([201, '/v1/agents/reviewer']);
    const own = { slug: 'reviewer', name: 'reviewer', description: '', version: 1, default: false, channels: {} };
    expect(body.agent).toMatchObject({ ...own, ...NOTHING, archived: false, createdBy: { id: user.id } });
    expect((await client.get(`${AGENTS}/reviewer`)).body).toEqual(body);
  });

  it('have all of their fields as they were given, the schema with its keys in their order', async () => {
    const { client } = await makeOwner();
    await createEnvironment(client);
    const agent = await createAgent(client, { ...WHOLE, name: 'The reviewer', description: 'For changes.' });
    expect(agent).toMatchObject({ ...WHOLE, name: 'The reviewer', description: 'For changes.' });
    expect(JSON.stringify((agent as unknown as typeof WHOLE).outputSchema)).toBe(JSON.stringify(SCHEMA));
    const [version] = await versionsOf(client);
    expect(version).toMatchObject({ version: 1, ...WHOLE });
    expect((await client.get<{ version: object }>(`${AGENTS}/reviewer/versions/1`)).body.version).toEqual(version);
  });

  it('get the next version with each change of their definition, and keep the earlier ones', async () => {
    const { client } = await makeOwner();
    await createAgent(client, { instructions: 'One.' });
    expect(await changeAgent(client, 'reviewer', { instructions: 'Two.' })).toMatchObject({ version: 2 });
    expect(await changeAgent(client, 'reviewer', { tags: ['a'] })).toMatchObject({ version: 3, instructions: 'Two.' });
    expect((await versionsOf(client)).map(({ version, instructions }) => [version, instructions])).toEqual([
      [3, 'Two.'],
      [2, 'Two.'],
      [1, 'One.'],
    ]);
  });

  it('get no version by what changes nothing, nor by name, description, channels, default and archived', async () => {
    const { client } = await makeOwner();
    await createEnvironment(client);
    await createAgent(client, WHOLE);
    expect(await changeAgent(client, 'reviewer', WHOLE)).toMatchObject({ version: 1 });
    expect(await changeAgent(client, 'reviewer', {})).toMatchObject({ version: 1 });
    const own = { name: 'Other', description: 'Else.', channels: { stable: 1 }, default: true };
    expect(await changeAgent(client, 'reviewer', own)).toMatchObject({ ...own, version: 1 });
    expect(await changeAgent(client, 'reviewer', { archived: true })).toMatchObject({ version: 1, archived: true });
    const other = { outputSchema: { properties: SCHEMA.properties, type: 'object' } };
    expect(await changeAgent(client, 'reviewer', other)).toMatchObject({ version: 2 });
  });

  it('are changed by who knows the newest version; another one is 409', async () => {
    const { client } = await makeOwner();
    await createAgent(client);
    await changeAgent(client, 'reviewer', { instructions: 'Two.' });
    for (const version of [1, 3]) {
      expect(refusedBy(await patch<ErrorBody>(client, { version, name: 'x' }))).toEqual([409, 'version_conflict', 'version']); // prettier-ignore
    }
    expect(refusedBy(await patch<ErrorBody>(client, { name: 'x' }))).toEqual([400, 'invalid_field', 'version']);
  });

  it('get one version from twenty changes at once that know the same one', async () => {
    const { client } = await makeOwner();
    await createAgent(client);
    const all = Array.from({ length: 20 }, (_, n) => patch(client, { version: 1, instructions: `${n}` }));
    const statuses = (await Promise.all(all)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
    expect((await versionsOf(client)).map(({ version }) => version)).toEqual([2, 1]);
  });

  it('answer a repeated request with a key as before, a change too', async () => {
    const { client } = await makeOwner();
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await client.post(AGENTS, { slug: 'reviewer' }, { headers });
    expect((await client.post(AGENTS, { slug: 'reviewer' }, { headers })).text).toBe(first.text);
    const send = () =>
      client.request('PATCH', `${AGENTS}/reviewer`, {
        json: { version: 1, instructions: 'Two.' },
        headers: { 'Idempotency-Key': `change-${headers['Idempotency-Key']}` },
      });
    const changed = await send();
    expect(changed.status).toBe(200);
    expect((await send()).text).toBe(changed.text);
    expect(await versionsOf(client)).toHaveLength(2);
  });

  it.each<[object, string]>([
    [{ slug: 'Reviewer' }, 'slug'],
    [{ slug: '' }, 'slug'],
    [{ instructions: null }, 'instructions'],
    [{ model: 'there-is-none' }, 'model'],
    [{ effort: 'huge' }, 'effort'],
    [{ approvals: 'all' }, 'approvals'],
    [{ budget: { maxSteps: 0 } }, 'budget.maxSteps'],
    [{ budget: { maxCost: '1' } }, 'budget.maxCost'],
    [{ repository: { url: 'no url' } }, 'repository.url'],
    [{ tools: { deny: ['bsh'] } }, 'tools.deny'],
    [{ tools: { allow: [] } }, 'tools.allow'],
    [{ web: 'no' }, 'web'],
    [{ checks: [{ name: 'A', command: 'x' }] }, 'checks[0].name'],
    [{ outputSchema: { type: 'unheard-of' } }, 'outputSchema'],
    [{ tags: ['a', 'a'] }, 'tags'],
    [{ metadata: { a: 1 } }, 'metadata'],
    [{ channels: { 3: 1 } }, 'channels'],
    [{ channels: { stable: 0 } }, 'channels'],
    [{ channels: { stable: 2 } }, 'channels.stable'],
    [{ default: 1 }, 'default'],
    [{ archived: true }, 'archived'],
    [{ title: 'x' }, 'title'],
  ])('refuse %j with the field', async (given, param) => {
    const { client } = await makeOwner();
    const { status, body } = await postAgent<ErrorBody>(client, given);
    expect([status, body.error.param]).toEqual([400, param]);
    expect(await slugs(client, '?archived=all')).toEqual([]);
  });

  it('have instructions of at most 32 KiB, counted in bytes', async () => {
    const { client } = await makeOwner();
    const refused = await postAgent<ErrorBody>(client, { instructions: `${'ü'.repeat(16_384)}x` });
    expect(refusedBy(refused)).toEqual([400, 'invalid_field', 'instructions']);
    await createAgent(client, { instructions: 'ü'.repeat(16_384) });
  });

  it('say which tools there are when one is denied that is not', async () => {
    const { client } = await makeOwner();
    const { body } = await postAgent<ErrorBody>(client, { tools: { deny: ['bsh'] } });
    expect(body.error.message).toMatch(/^tools\.deny: there is no tool bsh; the tools are: apply_patch, ask, bash, .*write, write_stdin\.$/); // prettier-ignore
  });

  it('name an environment that there is', async () => {
    const { client } = await makeOwner();
    expect(refusedBy(await postAgent<ErrorBody>(client, { environment: 'node' }))).toEqual([404, 'not_found', 'environment']); // prettier-ignore
  });

  it('have a slug once in a workspace, archived ones too, and another workspace has its own', async () => {
    const { client } = await makeOwner();
    await createAgent(client);
    expect(refusedBy(await postAgent<ErrorBody>(client))).toEqual([409, 'agent_exists', null]);
    await changeAgent(client, 'reviewer', { archived: true });
    expect(refusedBy(await postAgent<ErrorBody>(client))).toEqual([409, 'agent_exists', null]);
    const stranger = await makeOwner();
    expect(refusedBy(await stranger.client.get<ErrorBody>(`${AGENTS}/reviewer`))).toEqual([404, 'not_found', null]);
    await createAgent(stranger.client, { name: 'Theirs' });
    expect((await client.get<{ agent: AgentBody }>(`${AGENTS}/reviewer`)).body.agent.name).toBe('reviewer');
  });

  it('are listed newest first, without those that are archived unless these are asked for', async () => {
    const { client } = await makeOwner();
    for (const slug of ['one', 'two', 'three']) await createAgent(client, { slug });
    await changeAgent(client, 'two', { archived: true });
    expect(await slugs(client)).toEqual(['three', 'one']);
    expect(await slugs(client, '?archived=true')).toEqual(['two']);
    expect(await slugs(client, '?archived=all')).toEqual(['three', 'two', 'one']);
  });

  it('are seen by all of the workspace, and changed by who made them, owners and admins', async () => {
    const owner = await makeOwner();
    const { workspace } = owner;
    const [maker, other] = [await makeMember(service, { workspace }), await makeMember(service, { workspace })];
    const viewer = await makeMember(service, { workspace, role: 'viewer' });
    const admin = await makeMember(service, { workspace, role: 'admin' });
    await createAgent(maker.client);
    for (const one of [other, viewer]) expect(await slugs(one.client)).toEqual(['reviewer']);
    expect(refusedBy(await patch<ErrorBody>(other.client, { version: 1, name: 'x' }))).toEqual([
      403,
      'not_owner',
      null,
    ]);
    expect((await patch<ErrorBody>(viewer.client, { version: 1, name: 'x' })).status).toBe(403);
    for (const one of [maker, admin, owner]) await changeAgent(one.client, 'reviewer', { name: `By ${one.user.id}` });
  });

  it('are the default of a workspace one at a time, by owners and admins alone, and none when archived', async () => {
    const owner = await makeOwner();
    const member = await makeMember(service, { workspace: owner.workspace });
    const denied = [403, 'role_not_allowed', null];
    expect(refusedBy(await postAgent<ErrorBody>(member.client, { default: true }))).toEqual(denied);
    await createAgent(member.client, { slug: 'mine' });
    expect(refusedBy(await patch<ErrorBody>(member.client, { version: 1, default: true }, 'mine'))).toEqual(denied);
    await createAgent(owner.client, { slug: 'first', default: true });
    await changeAgent(owner.client, 'mine', { default: true });
    const defaults = async () =>
      (await owner.client.get<{ agents: AgentBody[] }>(AGENTS)).body.agents.filter((one) => one.default).map(({ slug }) => slug); // prettier-ignore
    expect(await defaults()).toEqual(['mine']);
    // What it says all tasks are told now.
    expect(refusedBy(await patch<ErrorBody>(member.client, { version: 1, instructions: 'Obey.' }, 'mine'))).toEqual(
      denied,
    );
    expect(await changeAgent(owner.client, 'mine', { archived: true })).toMatchObject({ default: false });
    expect(refusedBy(await patch<ErrorBody>(owner.client, { version: 1, default: true }, 'mine'))).toEqual([400, 'invalid_field', 'default']); // prettier-ignore
    expect(await defaults()).toEqual([]);
  });

  it('are not archived while an active automation names them', async () => {
    const owner = await makeOwner();
    await createAgent(owner.client, { channels: { stable: 1 } });
    const { id } = await createAutomation(owner, { agent: 'reviewer@stable' });
    expect(refusedBy(await patch<ErrorBody>(owner.client, { version: 1, archived: true }))).toEqual([409, 'agent_in_use', null]); // prettier-ignore
    await owner.client.post(`/v1/automations/${id}/pause`);
    expect(await changeAgent(owner.client, 'reviewer', { archived: true })).toMatchObject({ archived: true });
  });

  it('are at most 100 that are not archived, and have at most 500 versions', async () => {
    const { client, workspace, user } = await makeOwner();
    await createAgent(client);
    await service.db.query(
      `INSERT INTO agents (id, workspace_id, slug, name, created_by) SELECT i.id, $1, 'a' || i.n, 'A', $2 FROM unnest($3::uuid[]) WITH ORDINALITY i(id, n)`,
      [workspace.id, user.id, Array.from({ length: 99 }, () => uuidv7())],
    );
    await service.db.query(
      `INSERT INTO agent_versions (agent_id, version, definition, created_by)
       SELECT a.id, 1, v.definition, $2 FROM agents a, (SELECT v.definition FROM agent_versions v JOIN agents r ON r.id = v.agent_id WHERE r.workspace_id = $1 LIMIT 1) v
       WHERE a.workspace_id = $1 AND a.slug <> 'reviewer'`,
      [workspace.id, user.id],
    );
    expect(refusedBy(await postAgent<ErrorBody>(client, { slug: 'more' }))).toEqual([409, 'too_many_agents', null]);
    await changeAgent(client, 'a1', { archived: true });
    await createAgent(client, { slug: 'more' });
    expect(refusedBy(await patch<ErrorBody>(client, { version: 1, archived: false }, 'a1'))).toEqual([409, 'too_many_agents', null]); // prettier-ignore
    await service.db.query(
      `INSERT INTO agent_versions (agent_id, version, definition, created_by)
       SELECT v.agent_id, n, v.definition, v.created_by FROM agent_versions v JOIN agents a ON a.id = v.agent_id, generate_series(2, 500) n
       WHERE a.workspace_id = $1 AND a.slug = 'reviewer'`,
      [workspace.id],
    );
    await service.db.query(`UPDATE agents SET version = 500 WHERE workspace_id = $1 AND slug = 'reviewer'`, [workspace.id]); // prettier-ignore
    expect(refusedBy(await patch<ErrorBody>(client, { version: 500, instructions: 'x' }))).toEqual([409, 'too_many_versions', null]); // prettier-ignore
    expect(await changeAgent(client, 'reviewer', { name: 'Still' })).toMatchObject({ version: 500 });
  });

  it('are 404 that are not there, and so are versions', async () => {
    const { client } = await makeOwner();
    for (const path of ['', '/versions', '/versions/1']) {
      expect(refusedBy(await client.get<ErrorBody>(`${AGENTS}/none${path}`))).toEqual([404, 'not_found', null]);
    }
    await createAgent(client);
    for (const version of ['2', '0', 'x', '1.0']) {
      expect((await client.get(`${AGENTS}/reviewer/versions/${version}`)).status).toBe(404);
    }
  });
});
