import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { ChoreRunner } from '../../src/platform/chores/chore-runner.js';
import { changeAgent, createAgent } from '../harness/agents.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { Browser } from '../harness/browser.js';
import { attach, upload } from '../harness/files.js';
import { countRoundTrips, type RoundTrips } from '../harness/round-trips.js';
import { temporaryFolder } from '../harness/service.js';
import { createTask } from '../harness/tasks.js';

// Counted, not timed: what a request asks the database does not change with the machine. A number that grows here is a
// decision, not an accident.
describe('Round trips to the database', () => {
  let db: TestDatabase;
  let trips: RoundTrips;
  let member: Member;
  let taskId: string;
  const folder = temporaryFolder();

  const service = useService(async () => {
    db = await createDatabase();
    trips = await countRoundTrips(db.url);
    const entry = { tokenEnv: 'OPERATORS', workspaces: ['pushers'], paths: ['acme/*'], push: ['millwright/*'] };
    const file = join(folder.path, 'config.json');
    writeFileSync(file, JSON.stringify({ repositories: { 'operator.example': entry } }));
    const env = { CONFIG_FILE: file, OPERATORS: 'a-token-of-the-operator' };
    const booted = await bootApp({ env, db: { ...db, url: trips.url } });
    // Chores have transactions of their own on the connections of requests, every few seconds.
    const chores = booted.app.get(ChoreRunner);
    chores.onModuleDestroy();
    await chores.beforeApplicationShutdown();
    return booted;
  });
  beforeAll(async () => {
    member = await makeMember(service);
    taskId = (await createTask(member.client, { content: 'Read me.' })).id;
    // The document that the client checks answers against is read once.
    await member.client.get('/v1/auth/context');
  });
  afterAll(async () => {
    await trips.close();
    await db.drop();
    folder.remove();
  });

  const create = (key: string) =>
    member.client.post('/v1/tasks', { content: 'Do it.' }, { headers: { 'Idempotency-Key': key } });

  it('a request with an unknown key asks once, one with a mistyped key not at all', async () => {
    const unknown = member.client.as(await revokedKey());
    expect(await trips.during(() => unknown.get(`/v1/tasks/${taskId}`))).toBe(1);
    expect(await trips.during(() => member.client.as('mw_pk_no').get(`/v1/tasks/${taskId}`))).toBe(0);
  });

  it('by a session of the console as by its key: one look finds both; one that nobody has asks nothing, or once', async () => {
    const browser = new Browser(service.url);
    await browser.logIn({ key: member.key.secret });
    expect(await trips.during(() => browser.get(`/v1/tasks/${taskId}`))).toBe(2);
    const [name = ''] = (browser.cookie ?? '').split('=');
    const unknown = () => browser.get(`/v1/tasks/${taskId}`, { Cookie: `${name}=${'x'.repeat(43)}` });
    expect(await trips.during(unknown)).toBe(1);
    expect(await trips.during(() => browser.get(`/v1/tasks/${taskId}`, { Cookie: `${name}=x` }))).toBe(0);
    expect(await trips.during(() => browser.logOut())).toBe(3);
    expect(await trips.during(() => browser.logIn({ key: member.key.secret }))).toBe(3);
  });

  it('reading a task: the credential, the task', async () => {
    expect(await trips.during(() => member.client.get(`/v1/tasks/${taskId}`))).toBe(2);
  });

  it('a list of tasks: the credential, the page; a search has connections of its own', async () => {
    expect(await trips.during(() => member.client.get('/v1/tasks'))).toBe(2);
    expect(await trips.during(() => member.client.get('/v1/tasks?sort=updatedAt'))).toBe(2);
    expect(await trips.during(() => member.client.get('/v1/tasks?q=read'))).toBe(1);
  });

  it('the messages of a task: the credential, the task with the page', async () => {
    expect(await trips.during(() => member.client.get(`/v1/tasks/${taskId}/messages`))).toBe(2);
  });

  it('the events of a task and of a workspace, in JSON: the credential alone; what reads events has connections of its own', async () => {
    expect(await trips.during(() => member.client.get(`/v1/tasks/${taskId}/events`))).toBe(1);
    expect(await trips.during(() => member.client.get('/v1/events'))).toBe(1);
  });

  it('the files of a task: the credential, the page; without a file also whether the task is seen', async () => {
    const files = `/v1/tasks/${taskId}/files`;
    expect(await trips.during(() => member.client.get(files))).toBe(3);
    await attach(service, member, taskId, [(await upload(service, member, 'x')).id]);
    expect(await trips.during(() => member.client.get(files))).toBe(2);
  });

  it('creating a task: the credential, claim of the key with begin, the task, the answer with commit', async () => {
    expect(await trips.during(() => create(randomUUID()))).toBe(4);
  });

  it('creating a task with an agent: one more, for its version; so it is with a default agent, and without one it is none', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    await createAgent(owner.client);
    const make = async (given: object = {}) => {
      const headers = { 'Idempotency-Key': randomUUID() };
      expect((await owner.client.post('/v1/tasks', { content: 'Do it.', ...given }, { headers })).status).toBe(201);
    };
    expect(await trips.during(() => make())).toBe(4);
    expect(await trips.during(() => make({ agent: 'reviewer' }))).toBe(5);
    await changeAgent(owner.client, 'reviewer', { default: true });
    expect(await trips.during(() => make())).toBe(5);
    expect(await trips.during(() => make({ agent: null }))).toBe(4);
  });

  it('creating a task that pushes: one more where no entry of the operator decides, for the connections of the workspace', async () => {
    const workspace = await service.app.get(WorkspacesService).create({ name: 'P', slug: 'pushers', plan: 'paid' });
    const owner = await makeMember(service, { workspace, role: 'owner' });
    const given = { host: 'own.example', hosting: 'github', token: 'a-token-of-a-test' };
    expect((await owner.client.post('/v1/repository-connections', given)).status).toBe(201);
    const make = async (host: string, push?: object) => {
      const repository = { url: `https://${host}/acme/api`, ...(push && { push }) };
      const headers = { 'Idempotency-Key': randomUUID() };
      const { status } = await owner.client.post('/v1/tasks', { content: 'Do it.', repository }, { headers });
      expect(status).toBe(201);
    };
    const push = { branch: 'millwright/one' };
    expect(await trips.during(() => make('operator.example', push))).toBe(4);
    expect(await trips.during(() => make('own.example', push))).toBe(5);
    expect(await trips.during(() => make('own.example'))).toBe(4);
  });

  it('sending a message: the credential, claim of the key with begin, the task, the message, the task anew, the answer with commit', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const send = () => member.client.post(`/v1/tasks/${taskId}/messages`, { content: 'Go on.' }, { headers });
    expect(await trips.during(send)).toBe(6);
  });

  it('the billing summary: the credential, the account with the stored bytes', async () => {
    expect(await trips.during(() => member.client.get('/v1/billing/summary'))).toBe(2);
  });

  it('a replay: the credential, claim of the key with begin, the answer, commit', async () => {
    const key = randomUUID();
    await create(key);
    expect(await trips.during(() => create(key))).toBe(4);
  });

  async function revokedKey(): Promise<string> {
    const other = await makeMember(service);
    await db.query('DELETE FROM api_keys WHERE id = $1', [other.key.id]);
    return other.key.secret;
  }
});
