import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { ServiceAccountsService } from '../../src/access/workspaces/service-accounts.service.js';
import { WorkspaceRemover } from '../../src/access/workspaces/workspace-remover.js';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { tablesWith } from '../harness/database.js';
import { makeTask, postForm, storedFiles, upload } from '../harness/files.js';
import { ModelServer } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import { newMark, processesGone, processesWith, sleeps } from '../harness/processes.js';
import { addProjectFile, createProject } from '../harness/projects.js';
import { call, createTask, finished, reaches, readTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

// A beat of the leases would end lost work too: far later than the notice has to.
const LEASE = 40;

function formOf(bytes: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([bytes], { type: 'text/plain' }), 'a.txt');
  return form;
}

describe('Deleting a workspace (reference §3, §16)', () => {
  let model: ModelServer;
  let remover: WorkspaceRemover;

  const service = useService(async () => {
    model = await ModelServer.start();
    const env = { OPENAI_COMPATIBLE_URL: model.url, LEASE_SECONDS: String(LEASE) };
    return bootWorker({ env });
  });
  beforeAll(() => {
    remover = service.app.get(WorkspaceRemover);
  });
  afterAll(() => model.stop());

  const statusOf = async ({ client }: Member) => (await client.get('/v1/auth/context')).status;
  const workdir = (id: string) => join(service.app.get(DataDir).path, 'workdirs', id);
  /** What still names the workspace, but for the folder with its bytes and the audit log, which go a moment later. */
  const leftOf = async ({ workspace }: Member) =>
    (await tablesWith(service.db, workspace.id)).filter((table) => !/^(folder_removals|audit_\w+)$/.test(table));

  slowIt(
    'by the command, while the service runs: keys end, work is stopped, nothing is left; others do not notice',
    async () => {
      const [mine, theirs] = [await makeMember(service, { role: 'owner' }), await makeMember(service)];
      const robots = service.app.get(ServiceAccountsService);
      await robots.create({ workspaceId: mine.workspace.id, name: 'ci', role: 'member' });
      const marks: string[] = [];
      const tasks: string[] = [];
      for (const [n, member] of [mine, theirs].entries()) {
        const mark = newMark();
        const project = await createProject(member);
        await addProjectFile(service, member, project.id, `bytes of ${n}`);
        const { id: uploadId } = await upload(service, member, `attached to ${n}`);
        const content = script(call('bash', { command: `touch kept; sleep ${mark}` }));
        const task = await createTask(member.client, { content, projectId: project.id });
        const { id } = await createTask(member.client, { content: 'x', attachments: [{ uploadId }] });
        await finished(member.client, id);
        marks.push(mark);
        tasks.push(task.id);
      }
      const asked = await createTask(mine.client, { content: script(call('ask', { question: 'Why?' })) });
      await reaches(mine.client, asked.id, 'awaiting_input');
      const [myMark = '', theirMark = ''] = marks;
      const [myTask = '', theirTask = ''] = tasks;
      for (const mark of marks) await sleeps(mark);

      const operator = new Operator(service);
      const refused = await operator.spawn('workspace', 'delete', '--workspace', mine.workspace.slug);
      expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/add --yes/)]);
      expect([await statusOf(mine), (await readTask(mine.client, myTask)).status]).toEqual([200, 'running']);

      const { code, out } = await operator.spawn(
        'workspace',
        'delete',
        '--workspace',
        mine.workspace.slug,
        '--yes',
        '--json',
      );
      expect([code, JSON.parse(out)]).toEqual([0, { deleted: true, id: mine.workspace.id }]);
      await processesGone(myMark, 2000);
      expect([await statusOf(mine), await statusOf(theirs)]).toEqual([401, 200]);
      expect(await leftOf(mine)).toEqual([]);
      await until('its workdir to be gone', () => !existsSync(workdir(myTask)));
      // Of the others a lease after they were worked on.
      await service.db.query(`UPDATE folder_removals SET not_before = now() WHERE kind = 'workdir'`);
      await until('the other workdir to be gone', () => !existsSync(workdir(asked.id)));
      expect(processesWith(theirMark).length).toBeGreaterThan(0);
      expect(await readTask(theirs.client, theirTask)).toMatchObject({ status: 'running' });
      await theirs.client.delete(`/v1/tasks/${theirTask}`);
    },
  );

  it('its bytes go an hour later, when no upload can be under way any more, and nobody else’s', async () => {
    const [mine, theirs] = [await makeMember(service), await makeMember(service)];
    for (const member of [mine, theirs]) await upload(service, member, 'the same bytes');
    const [cleaner, { path }] = [service.app.get(FileCleaner, { strict: false }), service.app.get(DataDir)];
    const folder = ({ workspace }: Member) => join(path, 'files', workspace.id);
    await remover.remove(mine.workspace.id);
    expect(await cleaner.removeStorages()).toBe(0);
    expect(existsSync(folder(mine))).toBe(true);
    const [record] = await service.db.query<{ minutes: number }>(
      `SELECT extract(epoch FROM not_before - now())::int / 60 AS minutes FROM folder_removals WHERE id = $1`,
      [mine.workspace.id],
    );
    expect(record?.minutes).toBeGreaterThanOrEqual(58);
    await service.db.query(`UPDATE folder_removals SET not_before = now() WHERE kind = 'storage'`);
    expect(await cleaner.removeStorages()).toBeGreaterThan(0);
    expect([existsSync(folder(mine)), existsSync(folder(theirs))]).toEqual([false, true]);
    expect((await storedFiles(service)).length).toBeGreaterThan(0);
    expect(await service.db.query(`SELECT 1 FROM folder_removals WHERE kind = 'storage'`)).toEqual([]);
  });

  it('requests at the same moment are answered as ever or with 401, and leave nothing', async () => {
    const mine = await makeMember(service, { role: 'owner' });
    const project = await createProject(mine);
    const one = await createTask(mine.client, { content: script({ hang: true }), projectId: project.id });
    const send = [
      () => mine.client.post('/v1/tasks', { content: script({ hang: true }), projectId: project.id }),
      () => mine.client.post('/v1/projects', { name: 'P' }),
      () => mine.client.post(`/v1/tasks/${one.id}/messages`, { content: 'More.' }),
      () => mine.client.patch(`/v1/projects/${project.id}`, { name: 'Q' }),
      () => postForm(service, mine, formOf('bytes')),
    ];
    const requests = Array.from({ length: 8 }, () => send.map((one) => one())).flat();
    await Promise.race(requests);
    await remover.remove(mine.workspace.id);
    const statuses = new Set((await Promise.all(requests)).map(({ status }) => status));
    // 503: five writes of a workspace are under way at once, and on a busy machine those behind them wait in vain.
    expect([...statuses].filter((status) => ![200, 201, 202, 401, 404, 503].includes(status))).toEqual([]);
    expect(await leftOf(mine)).toEqual([]);
    // The worker is well: it still takes work.
    const { client } = await makeMember(service);
    expect(await finished(client, (await createTask(client, { content: script({ text: 'Here.' }) })).id)).toMatchObject(
      {
        status: 'completed',
      },
    );
  });

  it('one that was interrupted is gone on with; a member who is added meanwhile does not hold it up', async () => {
    const mine = await makeMember(service);
    for (let n = 0; n < 120; n++) await makeTask(service, mine);
    const steps = remover['steps'];
    const before = [...steps];
    const added: number[] = [];
    remover.onRemoving(() => Promise.reject(new Error('Killed.')));
    await expect(remover.remove(mine.workspace.id)).rejects.toThrow('Killed.');
    expect(await statusOf(mine)).toBe(401);
    // The operator's command is begun here: it has no part in the transaction of the step that waits for it.
    let begin = (): void => undefined;
    const operator = new Promise<void>((resolve) => (begin = resolve)).then(async () => {
      await service.app.get(MembershipsService).add(mine.workspace.id, mine.user.id, 'owner');
      await makeTask(service, mine);
    });
    steps.splice(0, steps.length, ...before, async () => {
      if (added.push(1) > 1) return 0;
      begin();
      await operator;
      return 0;
    });
    try {
      await remover.remove(mine.workspace.id);
    } finally {
      steps.splice(0, steps.length, ...before);
    }
    expect(added).toHaveLength(2);
    expect(await leftOf(mine)).toEqual([]);
    await expect(service.app.get(WorkspacesService).get(mine.workspace.slug)).rejects.toThrow('There is no workspace');
  });
});
