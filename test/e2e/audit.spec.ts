// What the audit log has of requests (reference §14): one service, the endpoint table as cases.
import { randomUUID } from 'node:crypto';
import { AuditRetention } from '../../src/access/audit/retention.js';
import { actionOf } from '../../src/access/audit/action.js';
import { Refusals } from '../../src/access/audit/refusals.js';
import { KeysService } from '../../src/access/auth/keys.service.js';
import { Database } from '../../src/platform/database/database.js';
import { EndpointExplorer } from '../../src/platform/http/endpoint-explorer.js';
import type { Row } from '../contract/endpoints.js';
import { World } from '../contract/world.js';
import { ACTIONS } from '../harness/audit.js';
import { allow } from '../harness/billing.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { postKey, removeKey, rotateKey } from '../harness/keys.js';
import { addProjectFile, createProject } from '../harness/projects.js';

const world = await World.make();
afterAll(() => world.service.close());
const { member, service } = world;

const routes = service.app.get(EndpointExplorer).routes;
const routeOf = ({ method, path }: Row) => {
  const found = routes.find((one) => one.method === method && one.path === path.replace(/\{(\w+)\}/g, ':$1'));
  if (found === undefined) throw new Error(`${method} ${path} is not in the code.`);
  return found;
};
/** It has its transaction after the host has answered. */
const TEST = '/v1/repository-connections/{repositoryConnectionId}/test';
/** A route changes something when it has a transaction, or takes in a file. */
const changes = (row: Row) => {
  const { contract, body } = routeOf(row);
  return (
    contract.transaction === true ||
    row.path === TEST ||
    (contract.scopes !== 'public' && body === 'stream' && contract.ownCharge !== true)
  );
};
const some = (which: (row: Row) => boolean): [string, Row][] =>
  world.rows.filter(which).map((row) => [`${row.method} ${row.path}`, row]);

/** The rows of a request, refusals included. */
const rowsOf = async (requestId: string | null) => {
  await service.app.get(Refusals).write();
  return service.db.query<Record<string, unknown>>(
    `SELECT workspace_id, actor_id, key_id, address, action, target_type, target_id, outcome, code, count
     FROM audit_log WHERE request_id = $1`,
    [requestId],
  );
};
const requestId = (answer: { headers: Headers }) => answer.headers.get('x-request-id');
const from = ({ workspace, user, key }: Member) => ({
  workspace_id: workspace.id,
  actor_id: user.id,
  key_id: key.id,
  address: '127.0.0.1',
  count: 1,
});

describe('A write (reference §14)', () => {
  it('has a stable name: that of its route', () => {
    const names = some(changes).map(([title, row]) => [title, actionOf(routeOf(row))]);
    expect(Object.fromEntries(names)).toEqual(ACTIONS);
  });

  it.each(some((row) => changes(row) && row.elsewhere === undefined))(
    '%s has exactly one row, with who, from where, what and to what',
    async (_title, row) => {
      const path = await world.path(row, member);
      const answer = await world.send(row, member.client, path);
      const location = answer.headers.get('location');
      const id = (location ?? path).split('/').findLast((segment) => segment.includes('-'));
      expect(await rowsOf(requestId(answer))).toEqual([
        {
          ...from(member),
          action: actionOf(routeOf(row)),
          target_type: id === undefined ? null : expect.any(String),
          target_id: row.path.includes('{commandId}') ? 'b1' : (id ?? null),
          outcome: 'done',
          code: null,
        },
      ]);
    },
  );

  it('the removal of a project file has one too', async () => {
    const { id } = await createProject(member);
    const file = await addProjectFile(service, member, id, 'x');
    const answer = await member.client.delete(`/v1/projects/${id}/files/${file.id}`);
    expect(await rowsOf(requestId(answer))).toMatchObject([
      { ...from(member), action: 'file.delete', target_type: 'file', target_id: file.id },
    ]);
  });

  it('that fails has none, and neither has a read', async () => {
    const wrong = await member.client.post('/v1/projects', { name: '' });
    const missing = await member.client.delete(`/v1/tasks/${randomUUID()}`);
    const [context, list] = [await member.client.get('/v1/auth/context'), await member.client.get('/v1/audit')];
    expect([wrong, missing, context, list].map(({ status }) => status)).toEqual([400, 404, 200, 200]);
    for (const answer of [wrong, missing, context, list]) expect(await rowsOf(requestId(answer))).toEqual([]);
  });

  it('that is replayed did nothing and has none; nor has a rehearsal', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const send = () => member.client.post('/v1/tasks', { content: 'x' }, { headers });
    const [first, again] = [await send(), await send()];
    const body = { name: 'A', content: 'x', cron: '0 9 * * *', dryRun: true };
    const rehearsal = await member.client.post('/v1/automations', body);
    expect([first.status, again.status, rehearsal.status]).toEqual([201, 201, 200]);
    expect(await rowsOf(requestId(first))).toHaveLength(1);
    for (const answer of [again, rehearsal]) expect(await rowsOf(requestId(answer))).toEqual([]);
  });

  it('of many duplicates at once has one row', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const send = () => member.client.post('/v1/tasks', { content: 'x' }, { headers });
    const answers = await Promise.all(Array.from({ length: 12 }, send));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const rows = await Promise.all(answers.map((answer) => rowsOf(requestId(answer))));
    expect(rows.flat()).toHaveLength(1);
  });

  it('goes on when its month has no partition', async () => {
    const months = await service.db.query<{ name: string }>(
      `SELECT inhrelid::regclass AS name FROM pg_inherits
       WHERE inhparent = 'audit_log'::regclass AND inhrelid::regclass::text <> 'audit_log_default'`,
    );
    for (const { name } of months) await service.db.query(`DROP TABLE ${name}`);
    const answer = await member.client.post('/v1/projects', { name: 'P' });
    expect([answer.status, await rowsOf(requestId(answer))]).toEqual([201, [expect.anything()]]);
    // This month's rows are in the default partition now: the month stays there, and nothing fails.
    await service.app.get(AuditRetention).keep();
    const next = await member.client.post('/v1/projects', { name: 'P' });
    expect([next.status, await rowsOf(requestId(next))]).toEqual([201, [expect.anything()]]);
    const [ahead] = await service.db.query(
      `SELECT count(*)::int AS months FROM pg_inherits WHERE inhparent = 'audit_log'::regclass`,
    );
    expect(ahead).toEqual({ months: 3 });
  });
});

describe('A key over the API (reference §3, §14)', () => {
  it('is made, rotated and deleted with one row each, which has nothing of the secret', async () => {
    const made = await postKey(member.client);
    const rotated = await rotateKey(member.client, made.body.key.id);
    const deleted = await removeKey(member.client, rotated.body.key.id);
    const acts = [
      [made, 'key.create', made.body.key.id],
      [rotated, 'key.rotate', rotated.body.key.id],
      [deleted, 'key.delete', rotated.body.key.id],
    ] as const;
    for (const [answer, action, id] of acts) {
      const rows = await rowsOf(requestId(answer));
      expect(rows).toEqual([
        { ...from(member), action, target_type: 'key', target_id: id, outcome: 'done', code: null },
      ]);
    }
    const [log = { text: '' }] = await service.db.query<{ text: string }>(
      `SELECT string_agg(to_jsonb(a)::text, ' ') AS text FROM audit_log a WHERE action LIKE 'key.%'`,
    );
    for (const { secret, key } of [made.body, rotated.body]) {
      expect(log.text).not.toContain(secret.slice(-20));
      expect(log.text).not.toContain(key.prefix);
    }
  });

  it('that would have more than the calling key is refused, with one row', async () => {
    const poor = await makeMember(service, { workspace: member.workspace, scopes: ['tasks:read'] });
    const wide = await makeMember(service, { workspace: member.workspace });
    const answer = await postKey(poor.client, { name: 'K', scopes: ['tasks:write'] });
    expect([answer.status, await rowsOf(requestId(answer))]).toMatchObject([
      403,
      [{ ...from(poor), action: 'key.create', target_type: null, outcome: 'refused', code: 'missing_scope' }],
    ]);
    // Of another member there is no such key: no refusal.
    const foreign = await removeKey(poor.client, wide.key.id);
    expect([foreign.status, await rowsOf(requestId(foreign))]).toEqual([404, []]);
  });

  const personal = some(({ scopes }) => scopes === 'personal' || scopes === 'administration');
  it.each(personal)('%s of a service account has one row', async (_title, row) => {
    const robot = await world.serviceAccount();
    const path = await world.path(row, null);
    const answer = await world.send(row, robot.client, path);
    expect([answer.status, await rowsOf(requestId(answer))]).toMatchObject([
      403,
      [{ ...from(robot), action: actionOf(routeOf(row)), outcome: 'refused', code: 'role_not_allowed' }],
    ]);
  });
});

describe('A refusal (reference §14)', () => {
  it('for want of an allowance (402) is none of these', async () => {
    const spent = await makeMember(service);
    await allow(service, spent, [{ window: 'day', unit: 'tasks', allowance: 0 }]);
    const answer = await spent.client.post('/v1/tasks', { content: 'x' });
    expect([answer.status, await rowsOf(requestId(answer))]).toEqual([402, []]);
  });

  it.each(some((row) => Array.isArray(row.scopes)))('%s without its scopes has one row', async (_title, row) => {
    const poor = await makeMember(service, { workspace: member.workspace, role: 'admin', scopes: [] });
    const path = await world.path(row, null);
    const answer = await world.send(row, poor.client, path);
    expect(answer.status).toBe(403);
    const last = path.endsWith('/content') && !path.endsWith('/workdir/content') ? path.split('/').at(-2) : (path.match(/[0-9a-f-]{36}/g) ?? []).at(-1);
    const id = row.path.includes('{integrationSlug}') ? 'github' : (last ?? null);
    expect(await rowsOf(requestId(answer))).toEqual([
      {
        ...from(poor),
        action: actionOf(routeOf(row)),
        target_type: id === null ? null : expect.any(String),
        target_id: row.path.includes('{integrationSlug}') ? expect.any(String) : id,
        outcome: 'refused',
        code: 'missing_scope',
      },
    ]);
  }); // prettier-ignore

  it('by role, ownership or a scope that depends on the body has one too', async () => {
    const viewer = await makeMember(service, { workspace: member.workspace, role: 'viewer' });
    const other = await makeMember(service, { workspace: member.workspace });
    const limited = await world.without('files:write');
    const { id } = await createProject(member, { name: 'Seen', visibility: 'workspace' });
    const answers = [
      [await viewer.client.post('/v1/tasks', { content: 'x' }), viewer, 'task.create', 'role_not_allowed'],
      [await other.client.delete(`/v1/projects/${id}`), other, 'project.delete', 'not_owner'],
      [await limited.client.post('/v1/tasks', { attachments: [{ uploadId: 'x' }] }), limited, 'task.create', 'missing_scope'],
      [await other.client.get('/v1/audit'), other, 'audit.read', 'role_not_allowed'],
    ] as const; // prettier-ignore
    for (const [answer, who, action, code] of answers) {
      expect(answer.status).toBe(403);
      expect(await rowsOf(requestId(answer))).toMatchObject([{ ...from(who), action, code, outcome: 'refused' }]);
    }
  });

  it('of a key that was revoked or has expired names the key; the answer does not', async () => {
    const revoked = await makeMember(service, { workspace: member.workspace });
    await service.app.get(KeysService, { strict: false }).revoke(revoked.key.id);
    const expired = await makeMember(service, { workspace: member.workspace });
    await service.db.query(`UPDATE api_keys SET expires_at = now() WHERE id = $1`, [expired.key.id]);
    for (const [who, code] of [[revoked, 'invalid_credential'], [expired, 'expired_credential']] as const) {
      const answer = await who.client.get<ErrorBody>(`/v1/tasks`);
      expect([answer.status, answer.body.error.code]).toEqual([401, code]);
      expect(Object.keys(answer.body.error).sort()).toEqual(['code', 'message', 'param', 'requestId', 'retryable', 'type']);
      expect(await rowsOf(requestId(answer))).toMatchObject([{ ...from(who), action: 'task.list', code }]);
    }
  }); // prettier-ignore

  it('of an unknown key, or of none, is nobody’s and has no row', async () => {
    for (const client of [world.anonymous, world.anonymous.as('nonsense'), world.anonymous.as(`mw_pk_${'0'.repeat(49)}`)]) {
      const answer = await client.get('/v1/tasks');
      expect([answer.status, await rowsOf(requestId(answer))]).toEqual([401, []]);
    }
  }); // prettier-ignore

  it('has a row of its own 60 times a minute and key; the others are counted in one', async () => {
    const poor = await makeMember(service, { workspace: member.workspace, scopes: [] });
    const refusals = new Refusals(service.app.get(Database));
    const [workspaceId, actorId, keyId] = [member.workspace.id, poor.user.id, poor.key.id];
    const nothing = { address: null, targetType: null, targetId: null, requestId: null };
    for (let n = 0; n < 100; n++)
      refusals.add({ ...nothing, workspaceId, actorId, keyId, action: 'task.list', code: 'missing_scope' });
    // The end of a process ends the minute.
    await refusals.onApplicationShutdown();
    const rows = await service.db.query(
      `SELECT action, code, count(*)::int AS rows, sum(count)::int AS refusals FROM audit_log WHERE key_id = $1
       GROUP BY 1, 2 ORDER BY 1 DESC`,
      [keyId],
    );
    expect(rows).toEqual([
      { action: 'task.list', code: 'missing_scope', rows: 60, refusals: 60 },
      { action: 'request.many', code: null, rows: 1, refusals: 40 },
    ]);
  });
});
