// How the audit log is read, and what it has of a task (reference §14).
import { randomUUID } from 'node:crypto';
import { AuditRetention } from '../../src/access/audit/retention.js';
import { KeysService } from '../../src/access/auth/keys.service.js';
import { ServiceAccountsService } from '../../src/access/workspaces/service-accounts.service.js';
import { UsersService } from '../../src/access/workspaces/users.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { holding } from '../harness/locks.js';
import { createProject } from '../harness/projects.js';
import { createTask, reaches } from '../harness/tasks.js';

interface Entry {
  id: string;
  at: string;
  actor: { id: string; name: string } | null;
  keyId: string | null;
  address: string | null;
  action: string;
  target: { type: string; id: string } | null;
  outcome: 'done' | 'refused';
  code: string | null;
  requestId: string | null;
  count: number;
}
interface Page {
  entries: Entry[];
  nextCursor: string | null;
}

const service = useService(bootWorker);
let member: Member;
beforeAll(async () => {
  member = await makeMember(service, { role: 'owner' });
});

const read = (client: Client, query = '') => client.get<Page>(`/v1/audit${query}`);

describe('The audit log (reference §14)', () => {
  it('its months are dropped one after the other: one that is being read holds up neither an earlier one nor a write', async () => {
    const monthOf = async (ago: string) =>
      (await service.db.query<{ name: string }>(`SELECT 'audit_log_' || to_char(now() AT TIME ZONE 'UTC' - $1::interval, 'YYYY_MM') AS name`, [ago]))[0]?.name ?? '';
    const there = async (name: string) => (await service.db.query('SELECT 1 WHERE to_regclass($1) IS NOT NULL', [name])).length === 1;
    await service.db.query(`SELECT make_audit_months(now() - interval '16 months')`);
    const [earlier, read] = [await monthOf('16 months'), await monthOf('15 months')];
    const reader = await holding(service.db, `LOCK TABLE ${read} IN ACCESS SHARE MODE`);
    const retention = service.app.get(AuditRetention);
    await expect(retention.keep()).rejects.toThrow('lock timeout');
    expect([await there(earlier), await there(read)]).toEqual([false, true]);
    await createProject(await makeMember(service));
    await reader.release();
    await retention.keep();
    expect(await there(read)).toBe(false);
  }); // prettier-ignore
});

describe('GET /v1/audit (reference §14)', () => {
  it('does not share its connection with the reads of others: a rare action may be far down in the log', async () => {
    expect((await read(member.client, '?action=task.create')).status).toBe(200);
    const used = await service.db.query(
      `SELECT DISTINCT application_name AS name FROM pg_stat_activity
       WHERE datname = current_database() AND query LIKE '%FROM audit_log%LIMIT%users%' AND pid <> pg_backend_pid()`,
    );
    expect(used).toEqual([{ name: 'millwright reports' }]);
  });

  it('is for personal keys of owners and admins with all ten scopes', async () => {
    const { workspace } = member;
    const workspaceId = workspace.id;
    const robot = await service.app.get(ServiceAccountsService).create({ workspaceId, name: 'Reader', role: 'admin' });
    const ofRobot = { workspaceId, userId: robot.id, service: true, name: 'ci', scopes: SCOPES, lifetimeSeconds: null };
    const { secret } = await service.app.get(KeysService, { strict: false }).create(ofRobot);
    for (const [role, status, code] of [
      ['owner', 200, undefined],
      ['admin', 200, undefined],
      ['member', 403, 'role_not_allowed'],
      ['viewer', 403, 'role_not_allowed'],
    ] as const) {
      const { client } = await makeMember(service, { workspace, role });
      const { status: found, body } = await client.get<Partial<ErrorBody>>('/v1/audit');
      expect([role, found, body.error?.code]).toEqual([role, status, code]);
    }
    for (const scope of SCOPES) {
      const scopes = SCOPES.filter((one) => one !== scope);
      const { client } = await makeMember(service, { workspace, role: 'owner', scopes });
      const { status, body } = await client.get<ErrorBody>('/v1/audit');
      expect([status, body.error.code]).toEqual([403, 'missing_scope']);
      expect(body.error.message).toContain(scope);
    }
    const { status, body } = await new Client(service.url, secret).get<ErrorBody>('/v1/audit');
    expect([status, body.error.code]).toEqual([403, 'role_not_allowed']);
  });

  it('shows the entry of a write, the newest first', async () => {
    const answer = await member.client.post<{ project: { id: string } }>('/v1/projects', { name: 'P' });
    const { body } = await read(member.client, '?limit=1');
    expect(body.entries).toEqual([
      {
        id: expect.any(String),
        at: expect.any(String),
        actor: { id: member.user.id, name: expect.stringMatching(/^User \d+$/) },
        keyId: member.key.id,
        address: '127.0.0.1',
        action: 'project.create',
        target: { type: 'project', id: answer.body.project.id },
        fields: null,
        outcome: 'done',
        code: null,
        requestId: answer.headers.get('x-request-id'),
        count: 1,
      },
    ]);
  });

  it('of a change shows which fields were given, and not what', async () => {
    const { id } = await createProject(member);
    const change = async (json: object) => {
      expect((await member.client.patch(`/v1/projects/${id}`, json)).status).toBe(200);
      return (await read(member.client, '?limit=1')).body.entries[0];
    };
    expect(await change({ description: 'canary', tags: ['canary'] })).toMatchObject({
      fields: ['description', 'tags'],
    });
    expect(await change({})).toMatchObject({ action: 'project.update', fields: [] });
    expect(JSON.stringify(await read(member.client))).not.toContain('canary');
  });

  it('shows what the operator did, without an actor, and nothing of other workspaces', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const { body } = await read(owner.client);
    expect(body.entries.map(({ action, actor, keyId }) => [action, actor, keyId])).toEqual([
      ['key.create', null, null],
      ['member.add', null, null],
      ['workspace.create', null, null],
    ]);
  });

  it('is walked page by page, nothing skipped or repeated while more comes', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    for (let n = 0; n < 7; n++) await createProject(owner);
    const whole = (await read(owner.client)).body.entries.map(({ id }) => id);
    const walked: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await read(owner.client, `?limit=3${query}`);
      walked.push(...body.entries.map(({ id }) => id));
      cursor = body.nextCursor;
      await createProject(owner);
    }
    expect(walked).toEqual(whole);
  });

  it('is filtered by time, actor and action', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const other = await makeMember(service, { workspace: owner.workspace });
    for (const one of [owner, other, owner]) await createProject(one);
    const all = (await read(owner.client)).body.entries;
    const [newest, second] = all;
    const ids = async (query: string) => (await read(owner.client, query)).body.entries.map(({ id }) => id);
    const those = (which: (entry: Entry) => boolean) => all.filter(which).map(({ id }) => id);
    expect(await ids(`?actor=${other.user.id}`)).toEqual(those(({ actor }) => actor?.id === other.user.id));
    expect(await ids('?action=project.create')).toEqual(those(({ action }) => action === 'project.create'));
    const ofBoth = ({ action, actor }: Entry) => action === 'project.create' && actor?.id === owner.user.id;
    expect(await ids(`?action=project.create&actor=${owner.user.id}`)).toEqual(those(ofBoth));
    expect(those(ofBoth)).toHaveLength(2);
    expect(await ids(`?since=${newest?.at}`)).toEqual(those(({ at }) => at >= (newest?.at ?? '')));
    expect(await ids(`?until=${second?.at}`)).toEqual(those(({ at }) => at < (second?.at ?? '')));
    expect(await ids('?since=2020-01-01&until=2020-02-01')).toEqual([]);
    for (const actor of [randomUUID(), 'nobody', '']) expect(await ids(`?actor=${actor}`)).toEqual([]);
    for (const query of ['?since=yesterday', '?until=2026-02-30', '?since=']) {
      const { status, body } = await owner.client.get<ErrorBody>(`/v1/audit${query}`);
      expect([query, status, body.error.code]).toEqual([query, 400, 'invalid_query']);
    }
  });

  it('keeps of a deleted person the id alone', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const leaver = await makeMember(service, { workspace: owner.workspace });
    const { id } = await createProject(leaver);
    const [person] = await service.db.query<{ name: string }>('SELECT name FROM users WHERE id = $1', [leaver.user.id]);
    await service.app.get(UsersService).delete(leaver.user.id);
    const { entries } = (await read(owner.client)).body;
    expect(entries.find(({ target }) => target?.id === id)?.actor).toEqual({ id: leaver.user.id, name: 'Deleted user' });
    expect(entries[0]).toMatchObject({ action: 'user.delete', actor: null, target: { type: 'user', id: leaver.user.id } });
    const left = await service.db.query(`SELECT 1 FROM audit_log a WHERE a::text LIKE '%' || $1 || '%'`, [person?.name]);
    expect(left).toEqual([]);
  }); // prettier-ignore
});

describe('The address of an entry (reference §14)', () => {
  it('is the one that a trusted proxy forwards, and the socket’s without one', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9' };
    const behind = await bootApp({ db: service.db, env: { TRUST_PROXY: 'loopback' } });
    const proxied = new Client(behind.url, member.key.secret);
    for (const [client, address] of [[proxied, '203.0.113.9'], [member.client, '127.0.0.1']] as const) {
      await client.post('/v1/projects', { name: 'P' }, { headers });
      expect((await read(member.client, '?limit=1')).body.entries[0]?.address).toBe(address);
    }
    await behind.close();
  }); // prettier-ignore
});

describe('An answer to a question (reference §14)', () => {
  it('has exactly one row; what the agent and the service do by themselves has none', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const { id } = await createTask(owner.client, { content: '```ask\nWhich?\n```\n' });
    const { pendingInteraction } = await reaches(owner.client, id, 'awaiting_input');
    const body = { interactionId: pendingInteraction?.id, content: 'this' };
    await owner.client.post(`/v1/tasks/${id}/interaction`, body);
    await reaches(owner.client, id, 'completed');
    const rows = await service.db.query(
      'SELECT action, target_type, target_id FROM audit_log WHERE workspace_id = $1 AND actor_id IS NOT NULL ORDER BY xid, id',
      [owner.workspace.id],
    );
    expect(rows).toEqual([
      { action: 'task.create', target_type: 'task', target_id: id },
      { action: 'task.answer', target_type: 'task', target_id: id },
    ]);
  });
});
