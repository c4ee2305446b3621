import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { useService } from '../harness/app.js';
import {
  type AutomationBody,
  AUTOMATIONS,
  connectIntegration,
  createAutomation,
  DAILY,
  inSeconds,
  readAutomation,
} from '../harness/automation-requests.js';
import { type Answer, type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { readPage, walk } from '../harness/pages.js';
import { createProject } from '../harness/projects.js';

type Body = { automation: AutomationBody } & ErrorBody;

describe('Who may do what with automations (reference §3, §12)', () => {
  let owner: Member;
  let ann: Member;

  const service = useService();
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
    ann = await makeMember(service, { workspace: owner.workspace });
  });

  const said = ({ status, body }: Answer<ErrorBody>) => (status < 300 ? 'ok' : body.error.code);
  const post = (client: Client, path: string, json?: object) =>
    client.request<Body>('POST', `${AUTOMATIONS}${path}`, json === undefined ? {} : { json });

  describe('visibility', () => {
    type Who = 'its owner' | 'a member' | 'a viewer' | 'an admin' | 'an owner' | 'a stranger';
    let people: Record<Who, Member>;

    beforeAll(async () => {
      const { workspace } = owner;
      people = {
        'its owner': ann,
        'a member': await makeMember(service, { workspace }),
        'a viewer': await makeMember(service, { workspace, role: 'viewer' }),
        'an admin': await makeMember(service, { workspace, role: 'admin' }),
        'an owner': owner,
        'a stranger': await makeMember(service, { role: 'owner' }),
      };
    });

    // Read, write.
    it.each<[string, Who, string, string]>([
      ['without a project', 'its owner', 'ok', 'ok'],
      ['without a project', 'a member', 'not_found', 'not_found'],
      ['without a project', 'a viewer', 'not_found', 'role_not_allowed'],
      ['without a project', 'an admin', 'ok', 'ok'],
      ['without a project', 'an owner', 'ok', 'ok'],
      ['without a project', 'a stranger', 'not_found', 'not_found'],
      ['in a private project', 'its owner', 'ok', 'ok'],
      ['in a private project', 'a member', 'not_found', 'not_found'],
      ['in a workspace project', 'its owner', 'ok', 'ok'],
      ['in a workspace project', 'a member', 'ok', 'not_owner'],
      ['in a workspace project', 'a viewer', 'ok', 'role_not_allowed'],
      ['in a workspace project', 'an admin', 'ok', 'ok'],
      ['in a workspace project', 'an owner', 'ok', 'ok'],
      ['in a workspace project', 'a stranger', 'not_found', 'not_found'],
    ])('an automation %s, for %s: reading is %s, writing %s', async (where, who, reading, writing) => {
      const visibility = where === 'in a workspace project' ? 'workspace' : 'private';
      const project = where === 'without a project' ? null : await createProject(ann, { name: 'P', visibility });
      const { id } = await createAutomation(ann, { projectId: project?.id ?? null });
      const { client } = people[who];
      const path = `${AUTOMATIONS}/${id}`;
      expect(said(await client.get<ErrorBody>(path))).toBe(reading);
      expect(said(await client.get<ErrorBody>(`${path}/runs`))).toBe(reading);
      const { ids } = await readPage(client, AUTOMATIONS, {});
      expect(ids.includes(id)).toBe(reading === 'ok');
      expect(said(await client.patch<ErrorBody>(path, { name: 'B' }))).toBe(writing);
      for (const verb of ['pause', 'resume', 'run']) expect(said(await post(client, `/${id}/${verb}`))).toBe(writing);
      expect(said(await client.delete<ErrorBody>(path))).toBe(writing);
    });

    it('a viewer makes none, not even in a dry run; nor does a key without the scope', async () => {
      const { client } = people['a viewer'];
      expect(said(await post(client, '', DAILY))).toBe('role_not_allowed');
      expect(said(await post(client, '', { ...DAILY, dryRun: true }))).toBe('role_not_allowed');
      const scopes = SCOPES.filter((scope) => scope !== 'automations:write');
      const reader = await makeMember(service, { workspace: owner.workspace, scopes });
      expect(said(await post(reader.client, '', DAILY))).toBe('missing_scope');
      expect(said(await reader.client.get<ErrorBody>(AUTOMATIONS))).toBe('ok');
    });

    it("what an admin changes stays its owner's", async () => {
      const { id } = await createAutomation(ann);
      await people['an admin'].client.patch(`${AUTOMATIONS}/${id}`, { name: 'Mine?' });
      expect((await readAutomation(ann.client, id)).owner.id).toBe(ann.user.id);
    });
  });

  it('an id that is no UUID is 400, one that nothing has is 404, whatever is asked', async () => {
    const all = async (id: string) => [
      await ann.client.get<ErrorBody>(`${AUTOMATIONS}/${id}`),
      await ann.client.get<ErrorBody>(`${AUTOMATIONS}/${id}/runs`),
      await ann.client.patch<ErrorBody>(`${AUTOMATIONS}/${id}`, { name: 'B' }),
      await ann.client.delete<ErrorBody>(`${AUTOMATIONS}/${id}`),
      await post(ann.client, `/${id}/pause`),
      await post(ann.client, `/${id}/resume`),
      await post(ann.client, `/${id}/run`),
    ];
    for (const { status, body } of await all('x')) {
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_field', 'automationId']);
    }
    for (const { status, body } of await all(crypto.randomUUID())) {
      expect([status, body.error.code]).toEqual([404, 'not_found']);
    }
  });

  it('the checks come in their order: fields, existence, ownership, plan, state', async () => {
    const { id: projectId } = await createProject(ann, { name: 'P', visibility: 'workspace' });
    const { id } = await createAutomation(ann, { projectId });
    const other = await makeMember(service, { workspace: owner.workspace });
    const change = async (path: string, json: object) =>
      said(await other.client.patch<ErrorBody>(`${AUTOMATIONS}/${path}`, json));
    expect(await change(crypto.randomUUID(), { cron: '@daily' })).toBe('invalid_cron');
    expect(await change(crypto.randomUUID(), { projectId: crypto.randomUUID() })).toBe('not_found');
    expect(await change(id, { cron: '@daily' })).toBe('invalid_cron');
    expect(await change(id, { projectId: crypto.randomUUID() })).toBe('not_found');
    expect(await change(id, { cron: null })).toBe('not_owner');
  });

  describe('the plan', () => {
    const full = async () => {
      const member = await makeMember(service, { plan: 'free' });
      const made = await Promise.all([1, 2, 3].map(() => createAutomation(member)));
      return { member, made };
    };

    it('of a free workspace allows three active ones: the fourth is 402', async () => {
      const { member, made } = await full();
      const { status, body } = await post(member.client, '', DAILY);
      expect([status, body.error.code]).toEqual([402, 'subscription_required']);
      expect(said(await post(member.client, '', { ...DAILY, dryRun: true }))).toBe('subscription_required');
      expect(said(await post(member.client, `/${made[0]?.id}/pause`))).toBe('ok');
      expect(said(await post(member.client, '', DAILY))).toBe('ok');
      expect(said(await post(member.client, `/${made[0]?.id}/resume`))).toBe('subscription_required');
      expect((await readAutomation(member.client, made[0]?.id ?? '')).status).toBe('paused');
      expect(said(await member.client.patch<ErrorBody>(`${AUTOMATIONS}/${made[1]?.id}`, { name: 'B' }))).toBe('ok');
    });

    it('counts one that is made active again by a new runAt', async () => {
      const { member, made } = await full();
      const [{ id } = { id: '' }] = made;
      await service.db.query(`UPDATE automations SET status = 'completed' WHERE id = $1`, [id]);
      await createAutomation(member);
      const again = await member.client.patch<Body>(`${AUTOMATIONS}/${id}`, { runAt: inSeconds(3600) });
      expect(said(again)).toBe('subscription_required');
    });

    it('holds when many are made at once', async () => {
      const member = await makeMember(service, { plan: 'free' });
      const answers = await Promise.all(Array.from({ length: 12 }, () => post(member.client, '', DAILY)));
      expect(answers.map(said).sort()).toEqual([...Array<string>(3).fill('ok'), ...Array<string>(9).fill('subscription_required')]); // prettier-ignore
    });
  });

  describe('when somebody leaves', () => {
    const leave = (member: Member, heir?: Member) =>
      service.app.get(MembershipsService).remove(member.workspace.id, member.user.id, heir?.user.id);

    it('the automations of a removed member are paused, and what waits is skipped', async () => {
      const bob = await makeMember(service, { workspace: owner.workspace });
      const { id } = await createAutomation(bob);
      const { id: paused } = await createAutomation(bob);
      await post(bob.client, `/${paused}/pause`);
      const { body } = await post(bob.client, `/${id}/run`);
      await service.db.query(`UPDATE automation_runs SET status = 'waiting', task_id = NULL WHERE automation_id = $1`, [
        id,
      ]);
      await leave(bob);
      const automation = await readAutomation(owner.client, id);
      expect(automation).toMatchObject({ status: 'paused', pausedReason: { code: 'owner_removed' }, nextRunAt: null, lastRunStatus: 'skipped' }); // prettier-ignore
      expect((await readAutomation(owner.client, paused)).pausedReason?.code).toBe('manual');
      expect(said(await post(owner.client, `/${id}/resume`))).toBe('role_not_allowed');
      expect(body).toHaveProperty('run');
      const logged = `SELECT type FROM workspace_events WHERE data ->> 'automationId' = $1 ORDER BY xid, id`;
      const told = ['automation.run_started', 'automation.paused', 'automation.run_skipped'];
      expect(await service.db.query(logged, [id])).toEqual(told.map((type) => ({ type })));
    });

    it('they go to the heir with everything else, and go on', async () => {
      const [bob, heir] = [await makeMember(service, { workspace: owner.workspace }), await makeMember(service, { workspace: owner.workspace })]; // prettier-ignore
      const { id } = await createAutomation(bob);
      await leave(bob, heir);
      expect(await readAutomation(heir.client, id)).toMatchObject({ status: 'active', owner: { id: heir.user.id } });
    });

    it('a deleted project leaves its automations, without a project', async () => {
      const { id: projectId } = await createProject(ann);
      const made = await createAutomation(ann, { projectId });
      await ann.client.delete(`/v1/projects/${projectId}`);
      const { updatedAt, ...rest } = await readAutomation(ann.client, made.id);
      expect({ ...rest, updatedAt: made.updatedAt }).toEqual({ ...made, projectId: null });
      expect(updatedAt > made.updatedAt).toBe(true);
    });
  });

  it('an event is bound to the own connection of its owner, else to the one of the workspace', async () => {
    const eve = await makeMember(service);
    const shared = await connectIntegration(service, eve.workspace.id);
    const given = { cron: undefined, triggerEvent: 'github.push' };
    const bound = async (id: string): Promise<unknown> => {
      const rows = await service.db.query('SELECT connection_id AS id FROM automations WHERE id = $1', [id]);
      return (rows as { id: unknown }[])[0]?.id;
    };
    const { id } = await createAutomation(eve, given);
    expect(await bound(id)).toBe(shared);
    const own = await connectIntegration(service, eve.workspace.id, 'github', eve.user.id);
    expect(await bound((await createAutomation(eve, given)).id)).toBe(own);
    await eve.client.patch(`${AUTOMATIONS}/${id}`, { triggerEvent: 'github.pull_request.*' });
    expect(await bound(id)).toBe(own);
    await eve.client.patch(`${AUTOMATIONS}/${id}`, { cron: '0 0 * * *' });
    expect(await bound(id)).toBeNull();
  });

  describe('pages', () => {
    it('without limit all automations come, newest first; with it a page of them', async () => {
      const eve = await makeMember(service);
      const made: string[] = [];
      for (let n = 0; n < 60; n++) made.unshift((await createAutomation(eve, { cron: '* * * * *' })).id);
      expect(await readPage(eve.client, AUTOMATIONS, {})).toEqual({ ids: made, nextCursor: null });
      expect(await walk(eve.client, AUTOMATIONS, 7)).toEqual(made);
      const first = await readPage(eve.client, AUTOMATIONS, { limit: '100' });
      expect(first).toEqual({ ids: made, nextCursor: null });
      for (const limit of ['0', '101', 'x', '']) {
        expect((await eve.client.get(`${AUTOMATIONS}?limit=${limit}`)).status).toBe(400);
      }
    });

    it('runs come newest first, page by page', async () => {
      const { id } = await createAutomation(ann);
      for (let n = 0; n < 7; n++) await post(ann.client, `/${id}/run`);
      const runs = `${AUTOMATIONS}/${id}/runs`;
      const { ids } = await readPage(ann.client, runs, {});
      expect([ids.length, ids]).toEqual([7, [...ids].sort().reverse()]);
      expect(await walk(ann.client, runs, 2)).toEqual(ids);
      const { nextCursor } = await readPage(ann.client, runs, { limit: '2' });
      const other = await createAutomation(ann);
      const foreign = await ann.client.get<ErrorBody>(`${AUTOMATIONS}/${other.id}/runs?cursor=${nextCursor}`);
      expect(said(foreign)).toBe('invalid_cursor');
    });
  });
});
