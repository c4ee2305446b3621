import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { foldersOf, listingOf } from '../harness/folder-listing.js';
import { ModelServer } from '../harness/model-server.js';
import { call, finished, readTask, runTask, script, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const MIB = 1024 * 1024;
/** What the plan of the free workspaces here allows. */
const QUOTA = 8 * MIB;

describe('Forks and what their workspace may store (reference §5, §14)', () => {
  let model: ModelServer;
  let who: Member;
  let source: TaskBody;
  const service = useService(async () => {
    model = await ModelServer.start();
    const config = { plans: { free: { storageBytes: QUOTA } } };
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url }, config });
  });
  afterAll(() => model.stop());
  beforeEach(async () => {
    who = await makeMember(service, { plan: 'free', role: 'owner' });
    const work = call('bash', { command: `head -c ${MIB} /dev/zero > zeros` });
    source = await runTask(who.client, script(work, { text: 'Done.' }));
  });

  const talk = script({ text: 'Nothing to do.' });
  const fork = async (body: object = {}) => {
    const answer = await who.client.post<{ task: TaskBody }>(`/v1/tasks/${source.id}/fork`, body);
    expect(answer).toMatchObject({ status: 201 });
    return answer.body.task;
  };
  const say = async (taskId: string) => {
    await who.client.post(`/v1/tasks/${taskId}/messages`, { content: talk });
    return finished(who.client, taskId);
  };
  /** Bytes of the workdir of a task, and of all of its workspace. */
  const counted = async (taskId: string) => {
    const text = `SELECT t.workdir_bytes::int AS own, s.workdir_bytes::int AS "all"
      FROM tasks t JOIN storage_usage s USING (workspace_id) WHERE t.id = $1`;
    const [row] = await service.db.query<{ own: number; all: number }>(text, [taskId]);
    return row ?? { own: 0, all: 0 };
  };
  const others = (bytes: number) =>
    service.db.query('UPDATE storage_usage SET stored_bytes = $2 WHERE workspace_id = $1', [who.workspace.id, bytes]);
  const workdirOf = async (taskId: string) => (await foldersOf(service, taskId))['workdir'] ?? '';

  it('the folder of a fork counts as soon as a run has made it, also when that only talks', async () => {
    const { own } = await counted(source.id);
    expect(own).toBeGreaterThanOrEqual(MIB);
    const { id } = await fork();
    expect(await counted(id)).toEqual({ own: 0, all: own });
    await say(id);
    const after = await counted(id);
    expect(after.own).toBeGreaterThanOrEqual(MIB);
    expect(after.all).toBe(own + after.own);
  });

  it('above the limit it is not made, and the turn fails; with room a message goes on', async () => {
    await others(QUOTA);
    const { id } = await fork({ content: talk });
    const message = expect.stringMatching(/^The workspace stores \d+ of the 8388608 bytes .* delete tasks/);
    expect(await finished(who.client, id)).toMatchObject({
      status: 'failed',
      statusReason: { code: 'storage_exhausted', retryable: true, message },
    });
    expect(existsSync(await workdirOf(id))).toBe(false);
    expect((await counted(id)).own).toBe(0);
    await others(0);
    expect(await say(id)).toMatchObject({ status: 'completed', result: { text: 'Nothing to do.' } });
    expect(await listingOf(service, id)).toEqual(await listingOf(service, source.id));
  });

  it('above the limit it is waited for when the task waits for what blocks it', async () => {
    await others(QUOTA);
    const { id } = await fork({ content: talk, whenBlocked: 'wait' });
    const blocked = async () => (await readTask(who.client, id)).statusReason?.code === 'storage_exhausted';
    await until('the fork to wait', blocked);
    await others(0);
    await who.client.post(`/v1/tasks/${id}/resume`);
    expect(await finished(who.client, id)).toMatchObject({ status: 'completed' });
  });

  it('above the limit a folder that counts already is made again where it is missing', async () => {
    const before = await listingOf(service, source.id);
    await others(QUOTA);
    const { workdir = '', tmp = '' } = await foldersOf(service, source.id);
    for (const path of [workdir, dirname(tmp)]) rmSync(path, { recursive: true, force: true });
    expect(await say(source.id)).toMatchObject({ status: 'completed' });
    expect(await listingOf(service, source.id)).toEqual(before);
  });
});
