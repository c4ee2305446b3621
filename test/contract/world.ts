// What the generated cases need: members, and things of theirs that a path or a body can name.
import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { SCOPES, type Scope } from '../../src/platform/http/endpoint.js';
import { EndpointExplorer } from '../../src/platform/http/endpoint-explorer.js';
import { makeCommand } from '../harness/commands.js';
import { bootApp, type BootOptions, type TestApp } from '../harness/app.js';
import { makeCaller } from '../harness/callers.js';
import {
  type Answer,
  Client,
  type ErrorBody,
  makeMember,
  type Member,
  type RequestOptions,
} from '../harness/client.js';
import { attach, makeTask, upload } from '../harness/files.js';
import { addProjectFile } from '../harness/projects.js';
import { pushSkill, skillZip } from '../harness/skills.js';
import { makeEvaluation } from '../harness/neighbour-things.js';
import { ENDPOINTS, type Row } from './endpoints.js';

/** Secrets are bound to a host that the operator allows. */
const SANDBOX = { network: 'allow' as const, allowHosts: ['api.github.com'] };

/** A proof that nobody has signed. */
export const ENVELOPE = {
  payloadType: 'application/vnd.in-toto+json',
  payload: 'e30=',
  signatures: [{ keyid: 'k', sig: 'c2ln' }],
};

export class World {
  private constructor(
    readonly service: TestApp,
    readonly member: Member,
    readonly stranger: Member,
    /** The rows whose routes are in the code. */
    readonly rows: readonly Row[],
  ) {}

  /** A service that does no work, so that nothing changes by itself. */
  static async make(config: NonNullable<BootOptions['config']> = {}): Promise<World> {
    const service = await bootApp({ config: { sandbox: SANDBOX, ...config } });
    const routes = service.app.get(EndpointExplorer).routes.map(({ method, path }) => `${method} ${path}`);
    const built = (row: Row) => routes.includes(`${row.method} ${row.path.replace(/\{(\w+)\}/g, ':$1')}`);
    // Owners, so that no route refuses them for the role.
    const [member, stranger] = [
      await makeMember(service, { role: 'owner' }),
      await makeMember(service, { role: 'owner' }),
    ];
    return new World(service, member, stranger, ENDPOINTS.filter(built));
  }

  /** The row's path with new things of a member; with ids that nothing has, when there is no member. */
  async path({ path }: Row, member: Member | null): Promise<string> {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    let filled = path;
    for (const name of names) filled = filled.replace(`{${name}}`, await this.make(name, member, filled));
    return filled;
  }

  /** Sends what the row describes, as `client`, with a key where it takes one. `change` alters the request. */
  async send(row: Row, client: Client, path: string, change: RequestOptions = {}): Promise<Answer<ErrorBody>> {
    const key: Record<string, string> = row.key === null ? {} : { 'Idempotency-Key': randomUUID() };
    const form = formOf(row);
    const own = form === null ? once(row) : {};
    if ('url' in own) await this.trimWebhooks();
    if ('slug' in own) await this.trimEnvironments();
    const json: RequestOptions = row.body === undefined ? {} : { json: { ...(row.body as object), ...own } };
    const body: RequestOptions = form === null ? json : { raw: form.body };
    const type: Record<string, string> = form === null ? {} : { 'Content-Type': form.type };
    const headers = { ...type, ...key, ...change.headers };
    const answer = await client.request<ErrorBody>(row.method, path, { ...body, ...change, headers });
    // The next one has its place.
    const { connection } = answer.body as { connection?: { id: string } };
    if (answer.status === 201 && connection !== undefined)
      await this.service.db.query('DELETE FROM connections WHERE id = $1', [connection.id]);
    return answer;
  }

  /** A new user of the member's workspace whose key has all scopes but some. */
  without(...missing: Scope[]): Promise<Member> {
    const { workspace } = this.member;
    const scopes = SCOPES.filter((scope) => !missing.includes(scope));
    return makeMember(this.service, { workspace, scopes, role: 'owner' });
  }

  /** A new service account of the member's workspace, with all scopes. */
  serviceAccount(): Promise<Member> {
    return makeCaller(this.service, this.member.workspace, { role: 'admin', kind: 'service' });
  }

  get anonymous(): Client {
    return new Client(this.service.url);
  }

  /** @param path as far as it is filled. */
  private async make(name: string, member: Member | null, path: string): Promise<string> {
    if (name === 'integrationSlug') {
      // One connection of each provider, and of each user.
      if (member) await this.service.db.query('DELETE FROM connections WHERE user_id = $1', [member.user.id]);
      return 'github';
    }
    if (member === null) return uuidv7();
    if (name === 'taskId') {
      const id = await this.created(member, '/v1/tasks', 'task', { content: 'x' });
      // Only a turn that has ended is forked.
      if (path.endsWith('/fork')) await this.service.db.query('UPDATE tasks SET turn = 1 WHERE id = $1', [id]);
      if (path.endsWith('/proof')) await this.service.db.query('INSERT INTO task_proofs (task_id, turn, envelope) VALUES ($1, 1, $2)', [id, JSON.stringify(ENVELOPE)]); // prettier-ignore
      // Only those of a turn that has ended run again.
      if (path.endsWith('/checks')) {
        await this.service.db.query(`UPDATE runs SET status = 'finished' WHERE task_id = $1`, [id]);
        await this.service.db.query(`UPDATE tasks SET status = 'completed', turn = 1, checks = '{"checks": [], "maxRepairs": 0}' WHERE id = $1`, [id]); // prettier-ignore
      }
      return id;
    }
    if (name === 'commandId') return makeCommand(this.service, path.split('/')[3] ?? '');
    if (name === 'messageId')
      return this.created(member, path.replace('/{messageId}', ''), 'message', { content: 'x' });
    if (name === 'fileId') return this.file(member);
    if (name === 'projectId') return this.created(member, '/v1/projects', 'project', { name: 'P' });
    if (name === 'automationId') return this.created(member, '/v1/automations', 'automation', { name: 'A', content: 'x', cron: '0 9 * * *' }); // prettier-ignore
    if (name === 'connectionId')
      return this.created(member, path.replace(/connections\/.*/, 'connections'), 'connection', { scope: 'user' });
    if (name === 'memberId') return this.joiner(member);
    if (name === 'serviceAccountId')
      return this.created(member, '/v1/service-accounts', 'serviceAccount', { name: `Robot ${uuidv7()}` });
    if (name === 'keyId' && path.startsWith('/v1/service-accounts'))
      return this.created(member, path.replace('/{keyId}', ''), 'key', { name: 'K', scopes: ['tasks:read'] });
    if (name === 'keyId') return this.created(member, '/v1/keys', 'key', { name: 'K', scopes: ['tasks:read'] });
    if (name === 'webhookId') return this.webhook(member);
    if (name === 'repositoryConnectionId') return this.repositoryConnection(member);
    if (name === 'secretId') return this.secret(member);
    if (name === 'slug') return path.startsWith('/v1/agents') ? this.agent(member) : this.environment(member);
    if (name === 'skillId') return (await pushSkill(this.service, member, `s-${uuidv7()}`)).id;
    if (name === 'evaluationId') return makeEvaluation(member, await this.agent(member));
    if (name === 'version') return '1';
    if (name === 'deliveryId') return this.created(member, path.replace(/deliveries.*/, 'test'), 'delivery');
    throw new Error(`How is a ${name} made? Say it in test/contract/world.ts.`);
  }

  private joiner(member: Member): Promise<string> {
    return this.created(member, '/v1/members', 'member', { email: newAddress(), role: 'member' });
  }

  private async file(member: Member): Promise<string> {
    return this.attached(member, await makeTask(this.service, member));
  }

  /** A new file of a task. */
  async attached(member: Member, task: string): Promise<string> {
    const [file] = await attach(this.service, member, task, [(await upload(this.service, member, 'x')).id]);
    if (file === undefined) throw new Error('Nothing was attached.');
    return file.id;
  }

  /** A new snapshot of a task. */
  async snapshot(taskId: string): Promise<void> {
    await this.service.db.query(
      `INSERT INTO snapshots (id, workspace_id, task_id, turn, step, files, bytes, manifest)
       SELECT $2, workspace_id, id, 1, 1, 0, 0, repeat('0', 64) FROM tasks WHERE id = $1`,
      [taskId, uuidv7()],
    );
  }

  /** One more host that a task reached. */
  async networkUse(taskId: string): Promise<void> {
    await this.service.db.query(
      'INSERT INTO network_uses (task_id, host, port, first_at, last_at) VALUES ($1, $2, 443, now(), now())',
      [taskId, `${uuidv7()}.test`],
    );
  }

  /** One more check of a task. */
  async check(taskId: string): Promise<void> {
    await this.service.db.query(
      `INSERT INTO task_checks (id, task_id, turn, round, name, command, required, status, exit_code, duration_ms, output, output_bytes, output_sha256)
       VALUES ($2, $1, 1, 0, 'tests', 'npm test', true, 'passed', 0, 1, '', 0, repeat('0', 64))`,
      [taskId, uuidv7()],
    );
  }

  /** A new build of an environment. */
  async build(slug: string): Promise<void> {
    await this.service.db.query(
      `INSERT INTO environment_builds (id, workspace_id, environment_id, version, driver, state)
       SELECT $2, workspace_id, id, 1, 'none', 'failed' FROM environments WHERE slug = $1`,
      [slug, uuidv7()],
    );
  }

  /** One more version of a skill. */
  async skillVersion(id: string): Promise<void> {
    await this.service.db.query(
      `WITH next AS (UPDATE skills SET version = version + 1 WHERE id = $1 RETURNING id, version)
       INSERT INTO skill_versions (skill_id, version, description, files, bytes, file_id, created_by)
       SELECT next.id, next.version, v.description, 1, 1, v.file_id, v.created_by FROM next JOIN skill_versions v ON v.skill_id = next.id AND v.version = 1`,
      [id],
    );
  }

  /** A new file of a project that is gone. */
  async leftOver(member: Member): Promise<void> {
    const id = await this.created(member, '/v1/projects', 'project', { name: 'P' });
    await addProjectFile(this.service, member, id, 'x');
    await member.client.delete(`/v1/projects/${id}`);
  }

  private async webhook(member: Member): Promise<string> {
    await this.trimWebhooks();
    return this.created(member, '/v1/webhooks', 'webhook', { url: newUrl(), types: ['task.*'] });
  }

  /** A workspace has at most 50. Nothing listens there. */
  private async repositoryConnection(member: Member): Promise<string> {
    await this.service.db.query('DELETE FROM repository_connections');
    const given = { host: 'localhost:1', hosting: 'github', token: 'a-token-of-a-test' };
    return this.created(member, '/v1/repository-connections', 'connection', given);
  }

  /** A workspace has at most 200. */
  private async secret(member: Member): Promise<string> {
    const bindings = [{ host: 'api.github.com', place: { header: 'Authorization' } }];
    return this.created(member, '/v1/secrets', 'secret', { name: newName(), value: 'a-value-of-a-test', bindings });
  }

  /** A workspace has at most 50. */
  private async environment(member: Member): Promise<string> {
    await this.trimEnvironments();
    const slug = newSlug();
    await this.created(member, '/v1/environments', 'environment', { slug });
    return slug;
  }

  private async agent(member: Member): Promise<string> {
    await this.service.db.query('UPDATE agents SET archived = true');
    const slug = newSlug();
    await this.created(member, '/v1/agents', 'agent', { slug });
    return slug;
  }

  private async trimEnvironments(): Promise<void> {
    await this.service.db.query(
      `DELETE FROM environments WHERE id IN (
         SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY workspace_id ORDER BY created_at DESC) AS n FROM environments) e
         WHERE n > 40)`,
    );
  }

  /** A workspace has at most 20. */
  private async trimWebhooks(): Promise<void> {
    await this.service.db.query(
      `DELETE FROM webhooks WHERE id IN (
         SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY workspace_id ORDER BY created_at DESC) AS n FROM webhooks) w
         WHERE n > 15)`,
    );
  }

  private async created(member: Member, path: string, name: string, json?: object): Promise<string> {
    const { body } = await member.client.post<Record<string, { id: string }>>(path, json);
    const id = body[name]?.id;
    if (id === undefined) throw new Error(`POST ${path} gave no ${name}.`);
    return id;
  }
}

const newAddress = () => `${uuidv7()}@acme.example`;
const newUrl = () => `https://hooks.example/${uuidv7()}`;
const newSlug = () => `e-${uuidv7()}`;
const newName = () => `TOKEN_${uuidv7().replaceAll('-', '_').toUpperCase()}`;

/** The fields whose value is taken once: one webhook for each address, a person is a member once, and a service account, a secret, an environment and an agent have their names. */
function once({ method, path }: Row): Record<string, string> {
  if (method === 'POST' && path === '/v1/members') return { email: newAddress() };
  if (method === 'POST' && path === '/v1/service-accounts') return { name: `Robot ${uuidv7()}` };
  if (method === 'POST' && path === '/v1/secrets') return { name: newName() };
  if (method === 'POST' && ['/v1/environments', '/v1/agents'].includes(path)) return { slug: newSlug() };
  return method === 'POST' && path === '/v1/webhooks' ? { url: newUrl() } : {};
}

/** The form that a row takes; null: none. */
function formOf({ body }: Row): { type: string; body: string | Uint8Array } | null {
  if (body === 'form') return multipart('a.txt', 'x');
  if (body !== 'skill') return null;
  const [head = '', tail = ''] = multipart('a.zip', '|').body.split('|');
  const zip = skillZip(`s-${uuidv7()}`);
  return { type: 'multipart/form-data; boundary=b', body: Buffer.concat([Buffer.from(head), zip, Buffer.from(tail)]) };
}

/** A form with one part; `field` is `file` in a right one. */
export function multipart(name: string, content: string, field = 'file'): { type: string; body: string } {
  const head = `Content-Disposition: form-data; name="${field}"; filename="${name}"\r\nContent-Type: text/plain`;
  return { type: 'multipart/form-data; boundary=b', body: `--b\r\n${head}\r\n\r\n${content}\r\n--b--\r\n` };
}

/** An error without what differs from request to request. */
export function sameness({ status, body }: Answer<ErrorBody>) {
  return { status, error: { ...body.error, requestId: '' } };
}
