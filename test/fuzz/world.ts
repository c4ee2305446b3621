// A service process of its own, on its own database and folder, with a few workspaces, people and things.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeysService } from '../../src/access/auth/keys.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { ServiceAccountsService } from '../../src/access/workspaces/service-accounts.service.js';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { FAR_LIMITS } from '../harness/limits.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { createTask } from '../harness/tasks.js';
import { MAX_UPLOAD } from './forms.js';
import type { People } from './request.js';
import type { Ids } from './scene.js';
import { CHOICE, COMMAND, HOST_TOKEN, QUESTION } from './values.js';

const few = { capacity: 5, windowSeconds: 1 };
const tight = {
  global: few,
  policies: { metadata_read: few, resource_read: few, resource_write: few, task_execution: few, file_upload: few },
};

export class World {
  /** What a member made, and what somebody made elsewhere. */
  shared: Ids = {};
  foreign: Ids = {};

  private constructor(
    readonly db: TestDatabase,
    readonly service: ServiceProcess,
    readonly people: People,
    readonly dataDir: string,
    private readonly host: FakeGitHub,
    private readonly remove: () => void,
  ) {}

  static async make(): Promise<World> {
    const db = await createDatabase();
    const folder = temporaryFolder();
    // The sandbox's users pass through it.
    chmodSync(folder.path, 0o711);
    const dataDir = join(folder.path, 'data');
    const config = join(folder.path, 'config.json');
    // Where a lookup of a name takes seconds, a request that asks the real one is not answered in time.
    const host = await FakeGitHub.start(HOST_TOKEN);
    host.add('acme/api');
    const repositories = { 'github.com': host.known()[host.name] };
    const rateLimits = { ...FAR_LIMITS.rateLimits, free: tight };
    const sandbox = { network: 'allow', allowHosts: ['github.com'] };
    writeFileSync(config, JSON.stringify({ rateLimits, sandbox, repositories, repositoryNetworks: ['127.0.0.1/32'] }));
    const app = await bootApp({ db, env: { DATA_DIR: dataDir } });
    const { people, member, outsider } = await makePeople(app);
    await app.close();
    const service = await ServiceProcess.spawn({
      DATABASE_URL: db.url,
      DATA_DIR: dataDir,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      CONFIG_FILE: config,
      LOG_LEVEL: 'warn',
      MAX_UPLOAD_BYTES: String(MAX_UPLOAD),
    });
    const world = new World(db, service, people, dataDir, host, folder.remove);
    try {
      await service.ready();
      world.shared = await things(service.url, member);
      world.foreign = await things(service.url, outsider);
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  /** The service's modules in this process, on what the service left; for looking and cleaning, after its end. */
  reopen(): Promise<TestApp> {
    return bootApp({ db: this.db, env: { DATA_DIR: this.dataDir } });
  }

  async close(): Promise<void> {
    await this.service.end('SIGKILL');
    await this.host.stop();
    await this.db.drop();
    this.remove();
  }
}

async function makePeople(service: TestApp) {
  const member = await makeMember(service);
  const { workspace } = member;
  const of = (more: object) => makeMember(service, { workspace, ...more });
  const keys = service.app.get(KeysService, { strict: false });
  const account = await service.app
    .get(ServiceAccountsService, { strict: false })
    .create({ workspaceId: workspace.id, name: 'Robot', role: 'member' });
  const accountKey = await keys.create({
    workspaceId: workspace.id,
    userId: account.id,
    service: true,
    name: 'robot',
    scopes: SCOPES,
    lifetimeSeconds: null,
  });
  const free = await service.app.get(WorkspacesService, { strict: false }).create({ name: 'Free', plan: 'free' });
  const [revoked, removed, expired] = [await of({}), await of({}), await of({ lifetimeSeconds: 1 })];
  await keys.revoke(revoked.key.id);
  await service.app.get(MembershipsService, { strict: false }).remove(workspace.id, removed.user.id);
  const outsider = await makeMember(service);
  const owner = await of({ role: 'owner' });
  const good = {
    member: member.key.secret,
    owner: owner.key.secret,
    service: accountKey.secret,
    outsider: outsider.key.secret,
    viewer: (await of({ role: 'viewer' })).key.secret,
    narrow: (await of({ scopes: ['tasks:read', 'tasks:write'] })).key.secret,
    tight: (await makeMember(service, { workspace: free })).key.secret,
  };
  const bad = { revoked: revoked.key.secret, expired: expired.key.secret, removed: removed.key.secret, nobody: null };
  const people: People = {
    secrets: { ...good, ...bad },
    known: new Set(Object.keys(good)),
    mighty: new Set(['member', 'owner', 'service', 'outsider']),
  };
  return { people, member, outsider };
}

/** A little of everything, as a member makes it. */
async function things(url: string, { key }: Member): Promise<Ids> {
  const client = new Client(url, key.secret);
  const ids: Ids = { projectId: [], taskId: [], uploadId: [], fileId: [], automationId: [], integrationSlug: ['github'], version: ['1'], asset: ['swagger-ui.css'] };
  for (const visibility of ['private', 'workspace']) {
    const made = await client.post<{ project: { id: string } }>('/v1/projects', { name: visibility, visibility });
    ids['projectId']?.push(made.body.project.id);
  }
  for (const bytes of ['', 'text', '<svg/>'.repeat(1000)]) {
    ids['uploadId']?.push((await upload<{ upload: { id: string } }>(client, '/v1/uploads', bytes)).upload.id);
    const path = `/v1/projects/${ids['projectId']?.[1]}/files`;
    ids['fileId']?.push((await upload<{ file: { id: string } }>(client, path, bytes)).file.id);
  }
  const attachments = ids['uploadId']?.map((uploadId) => ({ uploadId }));
  // All but the first in a project that everybody of the workspace sees.
  const projectId = ids['projectId']?.[1];
  const asking = [{ content: QUESTION }, { content: CHOICE }, { content: COMMAND, approvals: 'writes' }];
  for (const more of [{ attachments, projectId: null }, { attachments }, ...asking]) {
    ids['taskId']?.push((await createTask(client, { content: 'A task.', projectId, ...more })).id);
  }
  for (const more of [{}, { projectId }]) {
    const wish = { name: 'Yearly', content: 'A task.', cron: '0 0 1 1 *', ...more };
    const made = await client.post<{ automation: { id: string } }>('/v1/automations', wish);
    ids['automationId']?.push(made.body.automation.id);
  }
  return ids;
} // prettier-ignore

async function upload<T>(client: Client, path: string, bytes: string): Promise<T> {
  const raw = `--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${bytes}\r\n--b--\r\n`;
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
  const answer = await client.request<T>('POST', path, { raw, headers });
  expect(answer.status).toBe(201);
  return answer.body;
}
