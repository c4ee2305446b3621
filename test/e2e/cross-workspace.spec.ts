// What one workspace has, asked for with the keys of another: every route, every place of an id, filters, cursors, replays: as if it did not exist.
import { v7 as uuidv7 } from 'uuid';
import { OpenApi } from '../../src/platform/http/openapi/openapi.js';
import { ENDPOINTS, type Row } from '../contract/endpoints.js';
import { type Case, makeCases } from '../contract/places.js';
import { World } from '../contract/world.js';
import type { Answer, ErrorBody } from '../harness/client.js';
import type { Document } from '../harness/contract.js';
import { connect, deliver, entries, github } from '../harness/hooks.js';
import {
  type Asked,
  belongings,
  CANARY,
  hasPages,
  isOwn,
  makeAsked,
  makeShared,
  ownIds,
  SHARED_KEY,
} from '../harness/neighbours.js';
import { until } from '../harness/until.js';
import { withQuery } from '../harness/pages.js';
import { each, idFields, idNames, type Ids, nameOf, path, shape } from '../harness/probes.js';
import { SLOW } from '../harness/slow.js';

/** Operations whose path names things, with those that are foreign: each alone, and all of them together. */
const NAMING = ENDPOINTS.filter(({ scopes }) => scopes !== 'public').flatMap((row) => {
  const names = idNames(row);
  const sets = names.length > 1 ? [...names.map((one) => [one]), names] : names.map((one) => [one]);
  return sets.map((foreign) => [nameOf(row), foreign.join(' and '), foreign] as const);
});

/** The parameters of queries that name a thing, with the kind of the thing. All others name none. */
const FILTERS: [operation: string, parameter: string, kind: string][] = [
  ['GET /v1/tasks', 'projectId', 'projectId'],
  ['GET /v1/tasks', 'automationId', 'automationId'],
  ['GET /v1/tasks', 'parentTaskId', 'taskId'],
  ['GET /v1/tasks/{taskId}/messages', 'after', 'messageId'],
  ['GET /v1/audit', 'actor', 'userId'],
  ['DELETE /v1/members/{memberId}', 'transferTo', 'memberId'],
  ['GET /v1/webhooks/{webhookId}/deliveries', 'taskId', 'taskId'],
  ['GET /v1/events', 'projectId', 'projectId'],
  ['GET /v1/tasks/{taskId}/workdir', 'snapshot', 'snapshotId'],
  ['GET /v1/tasks/{taskId}/workdir/content', 'snapshot', 'snapshotId'],
];
const NO_NAMES = ['limit', 'cursor', 'status', 'order', 'since', 'until', 'action', 'from', 'to', 'groupBy', 'type', 'types', 'wait', 'deltas', 'project', 'format', 'archived', 'createdAfter', 'createdBefore', 'sort', 'q', 'tag', 'metadata', 'host', 'url', 'refresh', 'endpoint', 'path', 'version']; // prettier-ignore
/** There `after` is a position, which is a number. */
const BY_POSITION = ['GET /v1/tasks/{taskId}/events', 'GET /v1/events'];

/** Name a thing of GitHub. */
const OF_HOSTS = ['appId', 'installationId'];

/** Says what the workspace's own callers were refused, with the ids that they named. */
const REPEATS_IDS = ['GET /v1/audit'];

/** The fields of bodies that name a thing. Paths have ids of the caller's own things. */
const FIELDS: [operation: string, field: string, json: (id: string, own: Ids) => object][] = [
  ['POST /v1/tasks', 'projectId', (projectId) => ({ content: 'x', projectId })],
  ['POST /v1/tasks', 'uploadId', (uploadId) => ({ content: 'x', attachments: [{ uploadId }] })],
  ['PATCH /v1/tasks/{taskId}', 'projectId', (projectId) => ({ projectId })],
  ['POST /v1/tasks/{taskId}/messages', 'uploadId', (uploadId) => ({ content: 'x', attachments: [{ uploadId }] })],
  ['POST /v1/tasks/{taskId}/fork', 'projectId', (projectId) => ({ projectId })],
  ['POST /v1/tasks/{taskId}/interaction', 'interactionId', (interactionId) => ({ interactionId, content: 'x' })],
  ['POST /v1/tasks/{taskId}/interaction', 'uploadId', (uploadId, own) => ({ interactionId: own['interactionId'], attachments: [{ uploadId }] })],
  ['POST /v1/agents/{slug}/evaluate', 'taskId', (taskId) => ({ versions: [1], cases: [{ taskId }] })],  ['POST /v1/automations', 'projectId', (projectId) => ({ name: 'A', content: 'x', cron: '0 9 * * *', projectId })],
  ['PATCH /v1/automations/{automationId}', 'projectId', (projectId) => ({ projectId })],
  ['POST /v1/secrets', 'projectId', (projectId) => ({ name: 'ANOTHER', value: 'a-value-of-a-test', scope: 'project', projectId, bindings: [{ host: 'api.github.com', place: { header: 'Authorization' } }] })],
  ['POST /v1/webhooks', 'projectId', (projectId) => ({ url: 'https://hooks.example/', types: ['*'], projectId })],
  ['PATCH /v1/webhooks/{webhookId}', 'projectId', (projectId) => ({ projectId })],
]; // prettier-ignore

const PROBES = SLOW ? 1000 : 300;

describe('What another workspace has (reference §1, §3)', () => {
  let world: World;
  let asked: Asked;
  let before: Record<string, string>;
  /** One for each kind of key, and one for each person who is, or was, a member of the other workspace too. */
  let callers: (Case['caller'] & { own: Ids })[];
  /** Those of them who ask: all, or an owner, a service account that may only read, and one who is a member of both. */
  let asking: typeof callers;
  let secrets: string[];
  const probed = new Set<string>();
  let probes = 0;

  beforeAll(async () => {
    world = await World.make({ plans: { paid: { activeAutomations: 100_000 } } });
    asked = await makeAsked(world);
    const here = [...(await makeCases(world.service, ['own'], asked.guests)).values()].flat();
    const owner = here.find(({ caller: { role, kind } }) => role === 'owner' && kind === 'person');
    if (owner === undefined) throw new Error('Nobody owns the workspace.');
    const shared = await makeShared(world.service, owner.caller);
    callers = here
      .filter(isOwn)
      .map(({ caller, ids }) => ({ ...caller, own: { ...ownIds(ids, caller.key.id), ...shared } }));
    const few = ['owner person', 'viewer service'];
    asking = callers.filter(({ role, kind }, i) => SLOW || i === callers.length - 1 || few.includes(`${role} ${kind}`));
    const { userId: _known, ...ids } = asked.ids;
    secrets = [CANARY, ...Object.values(ids).flat()];
    before = await belongings(world.service, asked.workspace.id);
  });
  afterAll(() => world.service.close());

  it('callers are of every role, as people and as service accounts, and people of both workspaces', () => {
    const kinds = callers.map(({ role, kind }) => `${role} ${kind}`);
    expect(kinds).toHaveLength(10);
    expect(new Set(kinds).size).toBe(8);
  });

  it.each(NAMING)('%s, %s of it, is as with one that nothing has', async (operation, _words, foreign) => {
    const row = world.rows.find((one) => nameOf(one) === operation);
    if (row === undefined) return;
    await eachCaller(async ({ client, own }) => {
      const unknown = await world.send(row, client, path(row, { ...own, ...each(foreign, () => uuidv7()) }));
      const most = Math.max(...foreign.map((name) => theirs(name).length));
      for (let n = 0; n < most; n += 1) {
        const ids = each(foreign, (name) => theirs(name)[n % theirs(name).length] ?? '');
        same(row, await world.send(row, client, path(row, { ...own, ...ids })), unknown);
      }
    });
  });

  it('every parameter of a query that names a thing is asked with', async () => {
    expect(await parameters()).toEqual(FILTERS.map(([operation, parameter]) => `${operation} ${parameter}`).sort());
  });

  it.each(FILTERS)('%s by a foreign %s is as by one that nothing has', async (operation, parameter, kind) => {
    const row = rowOf(operation);
    await eachCaller(async ({ client, own }) => {
      const filtered = (id: string) => world.send(row, client, withQuery(path(row, own), { [parameter]: id }));
      const unknown = await filtered(uuidv7());
      for (const id of theirs(kind)) same(row, await filtered(id), unknown);
    });
  });

  it('every field of a body that names a thing is asked with', async () => {
    expect(await fields()).toEqual(FIELDS.map(([operation, field]) => `${operation} ${field}`).sort());
  });

  it.each(FIELDS)('%s with a foreign %s is as with one that nothing has', async (operation, field, json) => {
    const row = rowOf(operation);
    await eachCaller(async ({ client, own, role }) => {
      const named = (id: string) => world.send(row, client, path(row, own), { json: json(id, own) });
      const unknown = await named(uuidv7());
      expect([role, unknown.status >= 400]).toEqual([role, true]);
      for (const id of theirs(field)) same(row, await named(id), unknown);
    });
  });

  it('a cursor is none, for the path that it was given for and for one’s own', async () => {
    for (const row of called().filter(hasPages)) {
      const given = asked.cursors.get(row.path);
      if (given === undefined) throw new Error(`${row.path} has no cursor.`);
      await eachCaller(async ({ client, own }) => {
        for (const at of new Set([given.path, path(row, own)])) {
          const refused = await world.send(row, client, withQuery(at, { cursor: 'nonsense' }));
          // A list may be for some roles only.
          if (refused.status !== 403) expect([at, refused.body.error.code]).toEqual([at, 'invalid_cursor']);
          same(row, await world.send(row, client, withQuery(at, { cursor: given.cursor })), refused);
        }
      });
    }
  });

  it('an Idempotency-Key replays nothing and is never in the way', async () => {
    for (const row of called().filter(({ key }) => key !== null)) {
      const used = asked.used.get(nameOf(row));
      if (used === undefined) throw new Error(`Nobody has used a key with ${nameOf(row)}.`);
      const headers = { 'Idempotency-Key': SHARED_KEY };
      await eachCaller(async ({ client, role, kind }) => {
        const answer = await world.send(row, client, used.path, { json: used.json, headers });
        expect(answer.headers.has('idempotent-replayed')).toBe(false);
        if (idNames(row).length > 0) {
          same(row, answer, await world.send(row, client, path(row, each(idNames(row), () => uuidv7())), { json: used.json }));
        } else {
          // It does the same anew; another body under the key is then the caller's own conflict.
          const ofAdmins = row.scopes === 'administration' || row.path === '/v1/environments';
          const may = ofAdmins ? kind === 'person' && ['owner', 'admin'].includes(role) : role !== 'viewer';
          // Two who administer one workspace make the same there: the second finds what the first has made.
          const done = may ? [row.status, ...(ofAdmins || row.path === '/v1/agents' ? [409] : [])] : [403];
          expect([role, kind, done]).toEqual([role, kind, expect.arrayContaining([answer.status])]);
          clean(row, answer);
        }
      });
    }
  }); // prettier-ignore

  it('what is read, made or listed in one’s own workspace has nothing of it', async () => {
    for (const row of called().filter((one) => one.method === 'GET' || idNames(one).length === 0)) {
      await eachCaller(async ({ client, own }) => {
        const at = path(row, own);
        for (let next: string | null = ''; next !== null; ) {
          const query = row.pages === undefined ? {} : { limit: String(row.pages), ...(next === '' ? {} : { cursor: next }) };
          const answer: Answer<ErrorBody> = await world.send(row, client, withQuery(at, query));
          clean(row, answer);
          next = (answer.body as unknown as { nextCursor?: string | null }).nextCursor ?? null;
        }
      });
    }
  }); // prettier-ignore

  it('no integration is connected by a connection of it, of a person of both not either', async () => {
    const row = rowOf('GET /v1/integrations');
    await eachCaller(async ({ client }) => {
      const { body } = await world.send(row, client, row.path);
      const { integrations } = body as unknown as { integrations: { connected: boolean }[] };
      expect(integrations.filter(({ connected }) => connected)).toEqual([]);
    });
  });

  it('what needs no credential tells nothing of it', async () => {
    const open = world.rows.filter(({ scopes, method }) => scopes === 'public' && method === 'GET');
    for (const row of open.filter((one) => !one.path.includes('{'))) {
      clean(row, await world.send(row, world.anonymous, row.path));
    }
  });

  it('nothing of it has changed', async () => {
    expect(await belongings(world.service, asked.workspace.id)).toEqual(before);
  });

  it('a delivery for its connection is refused as for one that nothing has, whatever it is signed with', async () => {
    const row = rowOf('POST /hooks/{connectionId}');
    const [caller] = callers;
    if (caller === undefined) throw new Error('Nobody calls.');
    const own = await connect(world.service, caller);
    const to = (id: string) => deliver<ErrorBody>(world.service, `/hooks/${id}`, github(own.secret));
    const unknown = await to(uuidv7());
    expect(unknown.status).toBe(401);
    for (const id of theirs('connectionId')) {
      same(row, await to(id), unknown);
      // It is written down after the answer.
      const noted = async () =>
        (await entries(world.service, { id })).find(({ verdict }) => verdict === 'bad_signature');
      expect(await until('it to be noted', noted)).toMatchObject({ payload: null });
    }
    expect((await to(own.id)).status).toBe(200);
  });

  it(`these are ${PROBES} probes or more, and every route has its own`, () => {
    const known = world.rows.filter(({ path: at }) => !at.startsWith('/docs/')).map(nameOf);
    expect([...probed].sort()).toEqual(known.sort());
    expect(probes).toBeGreaterThanOrEqual(PROBES);
  });

  const called = () => world.rows.filter(({ scopes }) => scopes !== 'public');
  const eachCaller = (probe: (caller: (typeof callers)[number]) => Promise<void>) => Promise.all(asking.map(probe));

  function rowOf(operation: string): Row {
    const row = world.rows.find((one) => nameOf(one) === operation);
    if (row === undefined) throw new Error(`${operation} is not in the endpoint table.`);
    return row;
  }

  /** Ids of the other workspace. */
  function theirs(kind: string): string[] {
    const ids = asked.ids[kind];
    if (ids === undefined || ids.length === 0) throw new Error(`Which ${kind} has it? Say it in test/harness/neighbours.ts.`);
    return ids;
  } // prettier-ignore

  /** No word and no id of the other workspace, in body or headers. */
  function clean(row: Row, { text, headers }: Answer<ErrorBody>): void {
    probes += 1;
    probed.add(nameOf(row));
    const all = text + JSON.stringify([...headers]);
    const hidden = REPEATS_IDS.includes(nameOf(row)) ? [CANARY] : secrets;
    expect([nameOf(row), hidden.filter((secret) => all.includes(secret))]).toEqual([nameOf(row), []]);
  }

  function same(row: Row, foreign: Answer<ErrorBody>, unknown: Answer<ErrorBody>): void {
    clean(row, foreign);
    expect([nameOf(row), shape(foreign)]).toEqual([nameOf(row), shape(unknown)]);
  }

  async function document(): Promise<Document> {
    return JSON.parse(await world.service.app.get(OpenApi).text()) as Document;
  }

  async function parameters(): Promise<string[]> {
    const { paths } = await document();
    const names = called().flatMap((row) =>
      (paths[row.path]?.[row.method.toLowerCase()]?.parameters ?? [])
        .filter((one) => one.in === 'query' && !NO_NAMES.includes(one.name))
        .filter((one) => one.name !== 'after' || !BY_POSITION.includes(nameOf(row)))
        .map((one) => `${nameOf(row)} ${one.name}`),
    );
    return names.sort();
  }

  async function fields(): Promise<string[]> {
    const { paths, components } = await document();
    const names = called().flatMap((row) => {
      const { content = {} } = paths[row.path]?.[row.method.toLowerCase()]?.requestBody ?? {};
      const named = [...idFields(content, components)].filter((field) => !OF_HOSTS.includes(field));
      return named.map((field) => `${nameOf(row)} ${field}`);
    });
    return names.sort();
  }
});
