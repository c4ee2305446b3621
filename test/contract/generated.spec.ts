// Cases made of the endpoint table: what every route of a kind has in common. The client holds each answer against the
// document, with its headers.
import { randomBytes, randomUUID } from 'node:crypto';
import { SCOPES, writes } from '../../src/platform/http/endpoint.js';
import { makeCommand } from '../harness/commands.js';
import { changeAgent } from '../harness/agents.js';
import { makeMember } from '../harness/client.js';
import { makeTask } from '../harness/files.js';
import type { Row } from './endpoints.js';
import { multipart, sameness, World } from './world.js';

const world = await World.make();
afterAll(() => world.service.close());

const { member, stranger } = world;
const title = (row: Row): [string, Row] => [`${row.method} ${row.path}`, row];
const some = (which: (row: Row) => boolean): [string, Row][] => world.rows.filter(which).map(title);
const needsKey = (row: Row) => row.scopes !== 'public';
/** But for what is no message of its protocol then. */
const takesJson = (row: Row) => typeof row.body === 'object' && row.path !== '/mcp';
/** Probes and browsers add parameters of their own. */
const IGNORES_QUERY = /^\/(health|metrics|docs|console|hooks)(\/|$)/;
const UNKNOWN_KEY = `mw_pk_${'0'.repeat(49)}`;

describe('Every route of the table (reference §1, §2)', () => {
  it.each(some((row) => row.elsewhere === undefined))('%s answers as the table says', async (_title, row) => {
    const path = await world.path(row, member);
    const answer = await world.send(row, needsKey(row) ? member.client : world.anonymous, path);
    expect([answer.text.slice(0, 300), answer.status]).toEqual([expect.any(String), row.status]);
    if (row.answer !== null) expect(Object.keys(answer.body).sort()).toEqual([...row.answer].sort());
    expect(answer.headers.has('location')).toBe(row.status === 201);
  });

  it.each(some(needsKey))('%s without a credential, or with a wrong one, is 401 and reads nothing', async (_title, row) => {
    const path = await world.path(row, null);
    const broken = { raw: '{', headers: { 'Content-Type': 'text/nonsense' } };
    const sent = { ...broken, json: undefined };
    for (const [client, code] of [
      [world.anonymous, 'missing_credential'],
      [world.anonymous.as(UNKNOWN_KEY), 'invalid_credential'],
      [world.anonymous.as('nonsense'), 'invalid_credential'],
    ] as const) {
      const answer = await world.send(row, client, path, row.method === 'GET' ? {} : sent);
      expect([answer.status, answer.body.error.code]).toEqual([401, code]);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  }); // prettier-ignore

  it.each(some((row) => Array.isArray(row.scopes)))('%s needs each of its scopes', async (_title, row) => {
    const path = await world.path(row, member);
    for (const scope of row.scopes as readonly (typeof row.scopes)[number][]) {
      const { client } = await world.without(scope as Parameters<typeof world.without>[0]);
      const { status, body } = await world.send(row, client, path);
      expect([status, body.error.code]).toEqual([403, 'missing_scope']);
      expect(body.error.message).toContain(scope);
    }
  });

  it.each(some((row) => row.scopes === 'personal' || row.scopes === 'administration'))(
    '%s is not for service accounts',
    async (_title, row) => {
      const { client } = await world.serviceAccount();
      const { status, body } = await world.send(row, client, await world.path(row, null));
      expect([status, body.error.code]).toEqual([403, 'role_not_allowed']);
    },
  );

  it.each(some((row) => row.scopes === 'administration'))(
    '%s needs all ten scopes, and an owner or admin',
    async (_title, row) => {
      const path = await world.path(row, member);
      for (const scope of SCOPES) {
        const { status, body } = await world.send(row, (await world.without(scope)).client, path);
        expect([status, body.error.code]).toEqual([403, 'missing_scope']);
      }
      for (const role of ['member', 'viewer'] as const) {
        const { client } = await makeMember(world.service, { workspace: member.workspace, role });
        const { status, body } = await world.send(row, client, path);
        expect([role, status, body.error.code]).toEqual([role, 403, 'role_not_allowed']);
      }
    },
  );

  it.each(some((row) => row.conditional !== undefined))(
    '%s needs files:write with attachments',
    async (_title, row) => {
      const { client } = await world.without('files:write');
      const path = await world.path(row, member);
      const json = { ...(row.body as object), attachments: [{ uploadId: 'x' }] };
      const { status, body } = await world.send(row, client, path, { json });
      expect([status, body.error.code]).toEqual([403, 'missing_scope']);
      expect(body.error.message).toContain('files:write');
    },
  );

  it.each(some((row) => writes(row)))('%s is not for viewers', async (_title, row) => {
    const { client } = await makeMember(world.service, { workspace: member.workspace, role: 'viewer' });
    const { status, body } = await world.send(row, client, await world.path(row, null));
    expect([status, body.error.code]).toEqual([403, 'role_not_allowed']);
  });

  it.each([...new Set(world.rows.map(({ path }) => path))])(
    '%s takes no other method: 405 with Allow',
    async (path) => {
      const taken = world.rows.filter((row) => row.path === path).map(({ method }): string => method);
      if (taken.includes('GET')) taken.push('HEAD');
      const concrete = path.replace(/\{\w+\}/g, 'x');
      // A path such as /v1/notes/{id} also has the methods of its neighbours that fit it.
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((one) => !taken.includes(one))) {
        const answer = await world.anonymous.request(method, concrete);
        expect([method, answer.status]).toEqual([method, 405]);
        expect(answer.headers.get('allow')).toBe([...taken].sort().join(', '));
      }
    },
  );

  it.each(some(takesJson))('%s refuses a field that it does not know, and names it', async (_title, row) => {
    const json = { ...(row.body as object), colour: 'red' };
    const { status, body } = await world.send(row, member.client, await world.path(row, member), { json });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'unknown_field', 'colour']);
  });

  it.each(some((row) => needsKey(row) && row.body === undefined))('%s refuses a body', async (_title, row) => {
    if (row.method === 'GET') return;
    const path = await world.path(row, member);
    const { status, body } = await world.send(row, member.client, path, { json: { colour: 'red' } });
    expect([status, body.error.code]).toEqual([400, 'invalid_body']);
  });

  it.each(some((row) => !IGNORES_QUERY.test(row.path)))(
    '%s refuses a query parameter that it does not know, and names it',
    async (_title, row) => {
      const path = await world.path(row, needsKey(row) ? member : null);
      const { status, body } = await world.send(row, member.client, `${path}?colour=red`);
      expect([status, body.error.code]).toEqual([400, 'invalid_query']);
      expect(body.error.message).toContain('"colour"');
    },
  );

  it.each(some((row) => IGNORES_QUERY.test(row.path) && row.elsewhere === undefined))(
    '%s ignores a query',
    async (_title, row) => {
      expect((await world.send(row, world.anonymous, `${row.path}?colour=red&colour=blue`)).status).toBe(row.status);
    },
  );

  it.each(some((row) => row.body !== undefined))('%s takes no other content type', async (_title, row) => {
    const headers = { 'Content-Type': 'text/plain' };
    const { status, body } = await world.send(row, member.client, await world.path(row, member), { headers });
    expect([status, body.error.code]).toEqual([415, 'unsupported_media_type']);
  });

  it.each(some((row) => row.body === 'form' || row.body === 'skill'))(
    '%s takes no part of another name',
    async (_title, row) => {
      const { type, body: raw } = multipart('a.txt', 'x', 'colour');
      const change = { raw, headers: { 'Content-Type': type } };
      const { status, body } = await world.send(row, member.client, await world.path(row, member), change);
      expect([status, body.error.code]).toEqual([400, 'invalid_body']);
    },
  );

  it.each(some((row) => row.key !== null))('%s checks its Idempotency-Key', async (_title, row) => {
    const path = await world.path(row, member);
    const wrong = await world.send(row, member.client, path, { headers: { 'Idempotency-Key': 'a b' } });
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'invalid_idempotency_key']);
    if (row.key === 'optional') return;
    const json = row.body as object;
    const { status, body } = await member.client.request<typeof wrong.body>(row.method, path, { json });
    expect([status, body.error.code]).toEqual([400, 'missing_idempotency_key']);
  });

  it.each(some((row) => row.key === null && row.method !== 'GET' && row.elsewhere === undefined))(
    '%s ignores an Idempotency-Key',
    async (_title, row) => {
      const path = await world.path(row, member);
      const answer = await world.send(row, member.client, path, { headers: { 'Idempotency-Key': 'a b' } });
      expect(answer.status).toBe(row.status);
    },
  );

  it.each(some((row) => needsKey(row) && row.path.includes('Id}')))(
    "%s answers for a stranger's things as for those that do not exist",
    async (_title, row) => {
      const unknown = await world.send(row, member.client, await world.path(row, null));
      const foreign = await world.send(row, member.client, await world.path(row, stranger));
      expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found']);
      expect(sameness(foreign)).toEqual(sameness(unknown));
    },
  );

  // automationId alone is a uuid by the specification, and 400 when it is none.
  it.each(some((row) => needsKey(row) && /\{(?!automationId)(\w+Id|slug)\}/.test(row.path)))(
    '%s answers for an id that is none as for one that does not exist',
    async (_title, row) => {
      const unknown = await world.send(row, member.client, await world.path(row, null));
      const long = randomBytes(4000).toString('hex');
      const template = row.path.replace('{integrationSlug}', 'github');
      for (const id of ['x', '0', "'", '%00', '%F0%9F%98%80', randomUUID().slice(1), `${randomUUID()}0`, long]) {
        const malformed = await world.send(row, member.client, template.replace(/\{\w+\}/g, id));
        expect([id, sameness(malformed)]).toEqual([id, sameness(unknown)]);
      }
    },
  );

  it.each(
    some((row) => row.status === 201 && !/^\/v1\/(uploads|keys|members|service-accounts|integrations)/.test(row.path)),
  )('%s says in Location where the new thing is', async (_title, row) => {
    const made = await world.send(row, member.client, await world.path(row, member));
    const found = await member.client.get(made.headers.get('location') ?? '');
    const idIn = (body: object) => (Object.values(body) as { id: string }[])[0]?.id;
    expect([found.status, idIn(found.body)]).toEqual([200, idIn(made.body)]);
  });

  it.each(some((row) => row.method === 'DELETE' && row.elsewhere === undefined))(
    '%s answers with the delete result; again it is 404',
    async (_title, row) => {
      const path = await world.path(row, member);
      const first = await world.send(row, member.client, path);
      // An environment is named by its slug, and has an id too.
      const id: unknown = row.path.endsWith('{slug}') ? expect.any(String) : path.split('/').at(-1);
      expect(first.body).toEqual({ deleted: true, id });
      const again = await world.send(row, member.client, path);
      expect([again.status, again.body.error.code]).toEqual([404, 'not_found']);
    },
  );

  it.each(some((row) => row.pages !== undefined && row.elsewhere === undefined))(
    '%s checks limit and cursor',
    async (_title, row) => {
      const path = await world.path(row, member);
      for (const [query, code] of [
        ['limit=0', 'invalid_query'],
        [`limit=${(row.pages ?? 0) + 1}`, 'invalid_query'],
        ['limit=1&limit=1', 'invalid_query'],
        ['cursor=', 'invalid_cursor'],
        ['cursor=nonsense', 'invalid_cursor'],
      ]) {
        const { status, body } = await world.send(row, member.client, `${path}?${query}`);
        expect([query, status, body.error.code]).toEqual([query, 400, code]);
      }
      expect((await world.send(row, member.client, `${path}?limit=${row.pages}`)).status).toBe(200);
    },
  );

  // Their own suites walk these: the audit log is longer than a page by then, repositories are the host's, and a folder is a worker's.
  const walkedElsewhere = (path: string) => /^\/v1\/(audit$|repositories)|\/workdir$/.test(path);
  it.each(some((row) => row.pages !== undefined && !walkedElsewhere(row.path)))('%s is walked page by page, nothing twice', async (_title, row) => {
    const path = await world.path(row, member);
    for (let i = 0; i < 3; i++) await fill(row, path);
    const plural = row.answer?.find((key) => key !== 'nextCursor') ?? '';
    const read = async (query: string) => {
      const { body } = await member.client.get<Record<string, { id?: string; version?: number; host?: string }[]> & { nextCursor: string | null }>(path + query);
      return { ids: (body[plural] ?? []).map(({ id, version, host }) => id ?? version ?? host), cursor: body.nextCursor };
    };
    const walk = async (limit: number) => {
      const pages: (string | number | undefined)[][] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await read(`?limit=${limit}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
        pages.push(page.ids);
        cursor = page.cursor;
      }
      return pages;
    };
    const whole = (await walk(row.pages ?? 0)).flat();
    expect(whole.length).toBeGreaterThanOrEqual(3);
    // The last page says that it is the last: no empty one comes after it.
    expect(await walk(1)).toEqual(whole.map((id) => [id]));
  }); // prettier-ignore
});

/** Puts one more thing into a collection. */
async function fill({ path: template }: Row, path: string): Promise<void> {
  if (template === '/v1/tasks') {
    await makeTask(world.service, member);
    return;
  }
  // What a POST makes here is made by a worker.
  if (template === '/v1/tasks/{taskId}/checks') {
    await world.check(path.split('/')[3] ?? '');
    return;
  }
  const create = world.rows.find((row) => row.method === 'POST' && row.path === template);
  if (create !== undefined) await world.send(create, member.client, path);
  else if (template === '/v1/tasks/{taskId}/files') await world.attached(member, path.split('/')[3] ?? '');
  else if (template === '/v1/tasks/{taskId}/commands') await makeCommand(world.service, path.split('/')[3] ?? '');
  else if (template === '/v1/tasks/{taskId}/snapshots') await world.snapshot(path.split('/')[3] ?? '');
  else if (template === '/v1/tasks/{taskId}/network') await world.networkUse(path.split('/')[3] ?? '');
  else if (template === '/v1/files') await world.leftOver(member);
  else if (template === '/v1/automations/{automationId}/runs') await member.client.post(path.replace(/s$/, ''));
  else if (template === '/v1/webhooks/{webhookId}/deliveries')
    await member.client.post(path.replace('deliveries', 'test'));
  else if (template === '/v1/environments/{slug}/versions')
    await member.client.patch(path.replace('/versions', ''), { setup: [`echo ${randomUUID()}`] });
  else if (template === '/v1/agents/{slug}/versions')
    await changeAgent(member.client, path.split('/')[3] ?? '', { instructions: randomUUID() });
  else if (template === '/v1/skills/{skillId}/versions') await world.skillVersion(path.split('/')[3] ?? '');
  else if (template === '/v1/environments/{slug}/builds') await world.build(path.split('/')[3] ?? '');
  else throw new Error(`How is ${template} filled? Say it in test/contract/generated.spec.ts.`);
}
