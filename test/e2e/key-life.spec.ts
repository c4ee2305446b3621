import { KeysService } from '../../src/access/auth/keys.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { createAutomation } from '../harness/automation-requests.js';
import { makeDue, runs } from '../harness/automations.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { makeTask } from '../harness/files.js';
import { addProjectFile, createProject } from '../harness/projects.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { createTask, finished, reaches, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

const ASK = '```ask\nWhy?\n```';

describe('The life of a key (reference §3)', () => {
  const service = useService(bootWorker);

  const keys = () => service.app.get(KeysService, { strict: false });
  const secondKey = async ({ workspace, user }: Member) => {
    const about = { workspaceId: workspace.id, userId: user.id, name: 'second', scopes: SCOPES, lifetimeSeconds: null };
    return new Client(service.url, (await keys().create(about)).secret);
  };

  it('acts as its user in its workspace alone: what that user has in another one is not there', async () => {
    const here = await makeMember(service, { role: 'owner' });
    const { workspace } = await makeMember(service);
    await service.app.get(MembershipsService).add(workspace.id, here.user.id, 'owner');
    const there = { ...here, workspace, client: await secondKey({ ...here, workspace }) };
    for (const { client, user, workspace: own } of [here, there]) {
      const { body } = await client.get('/v1/auth/context');
      expect(body).toMatchObject({ user: { id: user.id }, workspace: { id: own.id } });
    }
    const project = await createProject(here, { name: 'Here', visibility: 'workspace' });
    const task = await createTask(here.client, { content: 'Here.', projectId: project.id });
    const file = await addProjectFile(service, here, project.id, 'here');
    const single = [`/v1/projects/${project.id}`, `/v1/tasks/${task.id}`, `/v1/files/${file.id}`];
    for (const path of [...single, `/v1/tasks/${task.id}/messages`, `/v1/files/${file.id}/content`]) {
      expect([path, (await here.client.get(path)).status]).toEqual([path, 200]);
      expect([path, (await there.client.get(path)).status]).toEqual([path, 404]);
    }
    expect((await there.client.get('/v1/tasks')).body).toEqual({ tasks: [], nextCursor: null });
    expect((await there.client.get('/v1/projects')).body).toEqual({ projects: [], nextCursor: null });
    const into = await there.client.post('/v1/tasks', { content: 'x', projectId: project.id });
    expect(into.status).toBe(404);
    expect((await there.client.delete(`/v1/tasks/${task.id}`)).status).toBe(404);
  });

  it('may live for centuries: its life in seconds is more than 32 bits hold', async () => {
    const { workspace, user } = await makeMember(service);
    const lifetimeSeconds = 99_999 * 86_400;
    const about = { workspaceId: workspace.id, userId: user.id, name: 'lasting', scopes: SCOPES, lifetimeSeconds };
    const { createdAt, expiresAt } = await keys().create(about);
    expect(Number(expiresAt) - createdAt.getTime()).toBe(lifetimeSeconds * 1000);
  });

  it.each(['Revoking', 'Expiry'])('%s ends the key alone: tasks and automations go on', async (how) => {
    const member = await makeMember(service);
    const { id } = await createTask(member.client, { content: ASK });
    await reaches(member.client, id, 'awaiting_input');
    const automation = await createAutomation(member);
    if (how === 'Revoking') await keys().revoke(member.key.id);
    else await service.db.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [member.key.id]);
    expect((await member.client.get(`/v1/tasks/${id}`)).status).toBe(401);
    const client = await secondKey(member);
    const { status, pendingInteraction } = await readTask(client, id);
    expect(status).toBe('awaiting_input');
    const json = { interactionId: pendingInteraction?.id, content: 'Because.' };
    expect((await client.post(`/v1/tasks/${id}/interaction`, json)).status).toBe(202);
    expect((await finished(client, id)).status).toBe('completed');
    await makeDue(service.db, automation.id);
    expect(await runs(service.db, automation.id)).toMatchObject([{ triggerType: 'schedule', status: 'started' }]);
  });

  it('removing a member cancels what is queued, running or waits for input, and leaves what is final', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const leaver = await makeMember(service, { workspace: owner.workspace });
    const { id: asking } = await createTask(leaver.client, { content: ASK });
    await reaches(leaver.client, asking, 'awaiting_input');
    const left: Record<string, string> = { [asking]: 'cancelled' };
    for (const status of ['queued', 'running', 'completed', 'failed']) {
      const id = await makeTask(service, leaver);
      await service.db.query('UPDATE tasks SET status = $2 WHERE id = $1', [id, status]);
      left[id] = ['queued', 'running'].includes(status) ? 'cancelled' : status;
    }
    const bystander = await makeTask(service, owner);
    await service.db.query(`UPDATE tasks SET status = 'queued' WHERE id = $1`, [bystander]);
    await service.app.get(MembershipsService).remove(owner.workspace.id, leaver.user.id);
    for (const [id, status] of Object.entries({ ...left, [bystander]: 'queued' })) {
      expect([id, (await readTask(owner.client, id)).status]).toEqual([id, status]);
    }
    expect((await readTask(owner.client, asking)).pendingInteraction).toBeNull();
  });

  slowIt('a key is never logged; a request id of the client is logged, not used', async () => {
    const member = await makeMember(service);
    const folder = temporaryFolder();
    const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
    const env = { ROLE: 'api', LOG_LEVEL: 'trace', DATA_DIR: folder.path, DATABASE_URL: service.db.url, SECRET_KEY };
    const process = await ServiceProcess.start(env);
    try {
      const mistyped = `${member.key.secret.slice(0, -1)}_`;
      const headers = { 'X-Request-Id': 'id-of-the-client' };
      for (const secret of [member.key.secret, mistyped]) {
        const client = new Client(process.url, secret);
        for (const path of ['/v1/auth/context', `/v1/tasks?key=${secret}`, '/v1/nothing']) {
          const answer = await client.get(path, { headers });
          expect(answer.headers.get('x-request-id')).not.toBe('id-of-the-client');
        }
        await client.post('/v1/tasks', { content: 'x', key: secret }, { headers });
      }
      await until('the requests to be logged', () => process.log.split('id-of-the-client').length > 8);
      expect(process.log).not.toContain(member.key.secret.slice(0, -1));
    } finally {
      await process.end();
      folder.remove();
    }
  });
});
