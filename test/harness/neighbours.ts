// Two workspaces for the suite that asks for the things of the one with the keys of the other.
import { randomUUID } from 'node:crypto';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { type Case, makeCases } from '../contract/places.js';
import type { Row } from '../contract/endpoints.js';
import type { World } from '../contract/world.js';
import type { TestApp } from './app.js';
import type { Client, Member } from './client.js';
import { attach, upload } from './files.js';
import { connect, deliver, github } from './hooks.js';
import { COMMAND_NAMES, makeChecksAndCommands, makeEnvironment, makeEvaluation, makeSkill, makeSnapshots } from './neighbour-things.js'; // prettier-ignore
import { readPage } from './pages.js';
import type { Ids } from './probes.js';
import { addProjectFile } from './projects.js';

/** Stands in every text of the one workspace, and in none of the other. */
export const CANARY = 'canary';

/** The workspace that is asked for. */
export interface Asked {
  workspace: Member['workspace'];
  /** People of it who become members of the other one too: an admin, who stays, and one who was removed. */
  guests: [both: Member, former: Member];
  /** Ids of each kind of thing, by the name of the parameter that takes them. */
  ids: Record<string, string[]>;
  /** Of each paged collection: the path, and the cursor of its second page, of the admin. */
  cursors: Map<string, { path: string; cursor: string }>;
  /** What the admin has sent with {@link SHARED_KEY}, by the operation. */
  used: Map<string, { path: string; json: Record<string, unknown> }>;
}

export const SHARED_KEY = randomUUID();

/** A workspace with things in every place, all of whose texts hold {@link CANARY}. */
export async function makeAsked(world: World): Promise<Asked> {
  const { service } = world;
  const cases = [...(await makeCases(service, ['things'])).values()].flat();
  const [owner, both, former] = ['owner', 'admin', 'member'].map((role) => personOf(cases, role));
  const [first] = casesOf(cases, both);
  if (!owner || !both || !former || !first) throw new Error('Nobody.');
  await mark(service, both);
  const pages = await fill(service, both, first.ids);
  await upload(service, former, CANARY, { name: CANARY });
  const connections = [await connect(service, both), await connect(service, both, { own: true })];
  for (const { path, secret } of connections)
    await deliver(service, path, github(secret, { id: CANARY, body: JSON.stringify({ ref: CANARY }) }));
  await service.app.get(MembershipsService).remove(former.workspace.id, former.user.id);
  // Both workspaces know the guests: their names are no secret of the first.
  await service.db.query(`UPDATE users SET name = 'Guest' WHERE id = ANY($1)`, [[both.user.id, former.user.id]]);
  const webhooks = await makeWebhooks(both, CANARY);
  pages['/v1/webhooks/{webhookId}/deliveries'] = `/v1/webhooks/${webhooks.webhookId[0]}/deliveries`;
  const repositoryConnectionId = [await connectHost(both, 'canary.one'), await connectHost(both, 'canary.two')];
  const secretId = [await makeSecret(both, 'CANARY_ONE'), await makeSecret(both, 'CANARY_TWO')];
  const made = (name: string) => makeEnvironment(service, both, name, CANARY);
  const slug = [await made('canary-one'), await made('canary-two')];
  const evaluationId = await Promise.all(slug.map((name) => makeEvaluation(both, name)));
  const skillId = await Promise.all(slug.map((name) => makeSkill(service, both, name, CANARY)));
  pages['/v1/skills/{skillId}/versions'] = `/v1/skills/${skillId[0]}/versions`;
  for (const list of ['environments/{slug}/versions', 'environments/{slug}/builds', 'agents/{slug}/versions']) pages[`/v1/${list}`] = `/v1/${list.replace('{slug}', 'canary-one')}`; // prettier-ignore
  const some = [owner, both, former].flatMap((person) => casesOf(cases, person).filter((_one, n) => n % 8 === 0));
  return {
    workspace: both.workspace,
    guests: [both, former],
    ids: {
      ...(await idsOf(service, both, some)),
      connectionId: connections.map(({ id }) => id),
      ...webhooks,
      repositoryConnectionId,
      ...{ secretId, slug, skillId, evaluationId, commandId: COMMAND_NAMES },
    },
    cursors: await cursors(world, both.client, pages),
    used: await useKeys(world, both.client, first.ids),
  };
}

function personOf(cases: readonly Case[], role: string): Case['caller'] | undefined {
  return cases.find(({ caller }) => caller.role === role && caller.kind === 'person')?.caller;
}

/** Things in a private project of the person's own come first, things without a project last. */
function casesOf(cases: readonly Case[], person: Case['caller'] | undefined): Case[] {
  return cases.filter(({ caller }) => caller === person);
}

/** Puts the canary into what the rows were made with. */
async function mark({ db }: TestApp, { workspace }: Member): Promise<void> {
  const texts = {
    projects: `name = $2, description = $2`,
    tasks: `title = $2, result_text = $2, metadata = jsonb_build_object($2, $2)`,
    automations: `name = $2, content = $2`,
    files: `name = $2`,
  };
  for (const [table, set] of Object.entries(texts)) {
    await db.query(`UPDATE ${table} SET ${set.replaceAll('$2', '$2::text')} WHERE workspace_id = $1`, [workspace.id, CANARY]); // prettier-ignore
  }
  const OF = 'task_id IN (SELECT id FROM tasks WHERE workspace_id = $1)';
  await db.query(`UPDATE interactions SET question = $2 WHERE ${OF}`, [workspace.id, CANARY]);
  await db.query(`UPDATE workspaces SET name = $2, slug = $2 WHERE id = $1`, [workspace.id, CANARY]);
  await db.query(
    `UPDATE users SET name = $2 || ' ' || id WHERE id IN (SELECT user_id FROM memberships WHERE workspace_id = $1)`,
    [workspace.id, CANARY],
  );
}

/** Two webhooks, and two deliveries of the first one. */
async function makeWebhooks(
  { client }: Member,
  description: string,
): Promise<Record<'webhookId' | 'deliveryId', string[]>> {
  const made = async (path: string, json?: object) => {
    const answer = await client.post<Record<'webhook' | 'delivery', { id: string } | undefined>>(path, json);
    const id = (answer.body.webhook ?? answer.body.delivery)?.id;
    if (id === undefined) throw new Error(`POST ${path}: ${answer.text}`);
    return id;
  };
  const create = () => made('/v1/webhooks', { url: `https://${randomUUID()}.example/`, types: ['*'], description });
  const webhookId = [await create(), await create()];
  const test = () => made(`/v1/webhooks/${webhookId[0]}/test`);
  return { webhookId, deliveryId: [await test(), await test()] };
}

type Pages = Record<string, string>;

/** Two of everything that is read page by page; the paths by their templates. */
async function fill(service: TestApp, member: Member, { project, task, automation }: Case['ids']): Promise<Pages> {
  const { client } = member;
  const { id: uploadId } = await upload(service, member, CANARY, { name: CANARY });
  await attach(service, member, task, [uploadId, uploadId]);
  for (let n = 0; n < 2; n += 1) {
    await addProjectFile(service, member, project ?? '', CANARY, CANARY);
    // It answers the question; the second one waits.
    await client.post(`/v1/tasks/${task}/messages`, { content: CANARY });
    await client.post(`/v1/automations/${automation}/run`);
  }
  await makeSnapshots(service, member, task, CANARY);
  const { db } = service;
  await db.query(`INSERT INTO network_uses (task_id, host, port, first_at, last_at) SELECT $1, $2, port, now(), now() FROM unnest(ARRAY[80, 443]) port`, [task, `${CANARY}.test`]); // prettier-ignore
  await makeChecksAndCommands(service, task, CANARY);
  return {
    '/v1/tasks/{taskId}/checks': `/v1/tasks/${task}/checks`,
    '/v1/tasks/{taskId}/commands': `/v1/tasks/${task}/commands`,
    '/v1/tasks/{taskId}/network': `/v1/tasks/${task}/network`,
    '/v1/tasks/{taskId}/snapshots': `/v1/tasks/${task}/snapshots`,
    '/v1/tasks/{taskId}/workdir': `/v1/tasks/${task}/workdir`,
    '/v1/projects/{projectId}/files': `/v1/projects/${project}/files`,
    '/v1/tasks/{taskId}/files': `/v1/tasks/${task}/files`,
    '/v1/tasks/{taskId}/messages': `/v1/tasks/${task}/messages`,
    '/v1/automations/{automationId}/runs': `/v1/automations/${automation}/runs`,
  };
}

async function idsOf({ db }: TestApp, { workspace, key }: Member, cases: Case[]): Promise<Asked['ids']> {
  const some = cases.map(({ ids }) => ids);
  const all = async (sql: string) => (await db.query<{ id: string }>(sql, [workspace.id])).map(({ id }) => id);
  const inCapitals = (ids: string[]) => [...ids, ...ids.slice(0, 1).map((id) => id.toUpperCase())];
  return {
    projectId: inCapitals(some.flatMap(({ project }) => project ?? [])),
    taskId: inCapitals(some.map(({ task }) => task)),
    automationId: inCapitals(some.map(({ automation }) => automation)),
    fileId: inCapitals(some.flatMap(({ taskFile, projectFile }) => [taskFile, projectFile])),
    interactionId: some.map(({ interaction }) => interaction),
    snapshotId: await all('SELECT id FROM snapshots WHERE workspace_id = $1'),
    uploadId: await all('SELECT id FROM uploads WHERE workspace_id = $1'),
    messageId: await all(
      'SELECT m.id FROM messages m JOIN tasks t ON t.id = m.task_id WHERE t.workspace_id = $1 LIMIT 3',
    ),
    // Of those who are members of no other workspace.
    userId: await all(
      `SELECT user_id AS id FROM memberships m WHERE workspace_id = $1
         AND NOT EXISTS (SELECT 1 FROM memberships o WHERE o.user_id = m.user_id AND o.workspace_id <> $1) LIMIT 3`,
    ),
    keyId: [key.id],
    memberId: await all(
      `SELECT user_id AS id FROM memberships m WHERE workspace_id = $1
         AND NOT EXISTS (SELECT 1 FROM memberships o WHERE o.user_id = m.user_id AND o.workspace_id <> $1) LIMIT 3`,
    ),
    serviceAccountId: await all(`SELECT id FROM users WHERE service_of = $1 LIMIT 3`),
  };
}

/** Lists of a host have hosts, and cases of this kind, in test/e2e/repositories-list.spec.ts. */
export const hasPages = ({ pages, path }: Row) => pages !== undefined && !/^\/v1\/repositories\b/.test(path);

/** Every collection of the endpoint table that has a second page. */
async function cursors({ rows }: World, client: Client, pages: Pages): Promise<Asked['cursors']> {
  const found: Asked['cursors'] = new Map();
  for (const { path: template } of rows.filter(hasPages)) {
    const path = pages[template] ?? template;
    if (path.includes('{')) throw new Error(`How is ${template} filled? Say it in test/harness/neighbours.ts.`);
    const { nextCursor } = await readPage(client, path, { limit: '1' });
    if (nextCursor === null) throw new Error(`${path} has only one page: fill it in test/harness/neighbours.ts.`);
    found.set(template, { path, cursor: nextCursor });
  }
  return found;
}

/** Who adds a person by an address learns who has it: this one is of both workspaces. */
const once = (path: string) => (path === '/v1/members' ? { email: 'guest@acme.example' } : {});

/** Every operation that takes an Idempotency-Key, carried out with one and the same. */
async function useKeys({ rows }: World, client: Client, ids: Case['ids']): Promise<Asked['used']> {
  const found: Asked['used'] = new Map();
  const headers = { 'Idempotency-Key': SHARED_KEY };
  for (const { method, path: template, body } of rows.filter((row) => row.key !== null)) {
    const known = { taskId: ids.ownTask, automationId: ids.ownAutomation, slug: 'canary-two' };
    const path = Object.entries(known).reduce((at, [name, id]) => at.replace(`{${name}}`, id), template);
    const json = { ...(body as object), ...once(template) } as Record<string, unknown>;
    const answer = await client.request(method, path, { headers, ...(body === undefined ? {} : { json }) });
    // The answer to a question has a suite of its own, and so have checks: here they are refused, and the key stays free.
    if (answer.status >= 300 && !/\/(interaction|checks)$/.test(template)) throw new Error(`${path}: ${answer.text}`);
    found.set(`${method} ${template}`, { path, json });
  }
  return found;
}

/**
 * What belongs to a workspace, table by table, as one digest each; not the last use of a key, which is noted later, and not the audit
 * log, which is sealed later.
 */
export async function belongings({ db }: TestApp, workspaceId: string): Promise<Record<string, string>> {
  const of = (table: string) => `(SELECT id FROM ${table} WHERE workspace_id = $1)`;
  const ways = { workspace_id: '($1)', task_id: of('tasks'), automation_id: of('automations'), connection_id: of('connections') }; // prettier-ignore
  const columns = await db.query<{ table: string; column: keyof typeof ways }>(
    `SELECT c.table_name AS table, c.column_name AS column FROM information_schema.columns c
     JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.column_name = ANY($1)
       AND c.table_name NOT LIKE 'audit%'`,
    [Object.keys(ways)],
  );
  const found: Record<string, string> = {};
  for (const { table, column } of columns) {
    const [row] = await db.query<{ digest: string }>(
      `SELECT md5(string_agg(r, ',' ORDER BY r)) || ' ' || count(*) AS digest
       FROM (SELECT (to_jsonb(t) - 'last_used_at')::text AS r FROM ${table} t WHERE t.${column} IN ${ways[column]}) all_rows`,
      [workspaceId],
    );
    found[`${table} by ${column}`] = row?.digest ?? '';
  }
  return found;
}

/** What a workspace has for all of its callers: a webhook with a delivery, a member, a service account, a repository connection, a secret, an environment, a skill, an agent. */
export async function makeShared(service: TestApp, owner: Member): Promise<Ids> {
  const { webhookId, deliveryId } = await makeWebhooks(owner, 'own');
  const made = async (path: string, json: object) => {
    const { body } = await owner.client.post<Record<string, { id: string }>>(path, json);
    return Object.values(body)[0]?.id ?? '';
  };
  return {
    ...{ webhookId: webhookId[0] ?? '', deliveryId: deliveryId[0] ?? '' },
    memberId: await made('/v1/members', { email: 'one@own.example', role: 'member' }),
    serviceAccountId: await made('/v1/service-accounts', { name: 'Own' }),
    repositoryConnectionId: await connectHost(owner, 'localhost:1'),
    ...{ commandId: 'b1', secretId: await makeSecret(owner, 'OWN') },
    slug: await makeEnvironment(service, owner, 'own', 'own'),
    evaluationId: await makeEvaluation(owner, 'own'),
    skillId: await makeSkill(service, owner, 'own', 'own'),
  };
}

/** The host is not asked. */
async function connectHost({ client }: Member, host: string): Promise<string> {
  const given = { host, hosting: 'github', token: `${CANARY}-token` };
  const { body, text } = await client.post<{ connection?: { id: string } }>('/v1/repository-connections', given);
  if (body.connection === undefined) throw new Error(text);
  return body.connection.id;
}

async function makeSecret({ client }: Member, name: string): Promise<string> {
  const bindings = [{ host: 'api.github.com', place: { header: 'Authorization' } }];
  const given = { name, description: name === 'OWN' ? null : CANARY, value: `${CANARY}-value`, bindings };
  const { body, text } = await client.post<{ secret?: { id: string } }>('/v1/secrets', given);
  if (body.secret === undefined) throw new Error(text);
  return body.secret.id;
}

/** The case of a caller's own things in a private project of its own. */
export function isOwn({ place }: Case): boolean {
  return place.project === 'private' && place.projectIs === 'own' && place.thingIs === 'own';
}

/** Their ids, by the parameter that takes them. */
export function ownIds(
  { project, task, interaction, message, automation, projectFile }: Case['ids'],
  keyId: string,
): Ids {
  const tasks = { taskId: task, messageId: message, interactionId: interaction };
  return {
    projectId: project ?? '',
    ...tasks,
    automationId: automation,
    fileId: projectFile,
    keyId,
    integrationSlug: 'github',
  };
}
