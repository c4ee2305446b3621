import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { ChoreRunner } from '../../src/platform/chores/chore-runner.js';
import { SnapshotStore } from '../../src/resources/snapshots/snapshot-store.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { SandboxSelector } from '../../src/engine/sandbox/sandbox-selector.js';
import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import { type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { storedFiles, upload } from '../harness/files.js';
import { ModelServer } from '../harness/model-server.js';
import { newMark, processesGone, sleeps } from '../harness/processes.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, finished, reaches, runTask, script, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { SLOW, slowDescribe, slowIt } from '../harness/slow.js';

const LEASE = 3;
const remove = (client: Client, id: string) => client.delete<{ deleted: boolean; id: string }>(`/v1/tasks/${id}`);

/** How many rows of each table still belong to a task. */
async function leftOf({ db }: TestApp, id: string): Promise<Record<string, number>> {
  const [row] = await db.query<Record<string, number>>(
    `SELECT (SELECT count(*)::int FROM tasks WHERE id = $1) AS tasks,
       (SELECT count(*)::int FROM messages WHERE task_id = $1) AS messages,
       (SELECT count(*)::int FROM runs WHERE task_id = $1) AS runs,
       (SELECT count(*)::int FROM interactions WHERE task_id = $1) AS interactions,
       (SELECT count(*)::int FROM files WHERE task_id = $1) AS files,
       (SELECT count(*)::int FROM tool_invocations v WHERE NOT EXISTS (
         SELECT 1 FROM messages m WHERE m.id = v.message_id)) AS calls,
       (SELECT count(*)::int FROM idempotency_keys WHERE path LIKE '%' || $1::text || '%') AS answers`,
    [id],
  );
  return row ?? {};
}
const NOTHING = { tasks: 0, messages: 0, runs: 0, interactions: 0, files: 0, calls: 0, answers: 0 };

describe('Deleting a task (reference §5, §7, §8)', () => {
  let model: ModelServer;
  let member: Member;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url, LEASE_SECONDS: String(LEASE) } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.stop());

  const workdirs = () => join(service.app.get(DataDir).path, 'workdirs');
  const workdirGone = (id: string) => until('its workdir to be gone', () => !existsSync(join(workdirs(), id)));

  it('a running one: its work stops, its processes are gone within 2 s, and nothing of it is left', async () => {
    const mark = newMark();
    const work = [call('bash', { command: 'echo kept > kept.txt' }), call('publish', { path: 'kept.txt' })];
    const { id } = await createTask(member.client, {
      content: script(...work, call('bash', { command: `sleep ${mark}` })),
    });
    await sleeps(mark);
    await member.client.post(`/v1/tasks/${id}/messages`, { content: 'And then?' });
    const [file] = await service.db.query<{ id: string }>('SELECT id FROM files WHERE task_id = $1', [id]);
    expect(existsSync(join(workdirs(), id, 'kept.txt'))).toBe(true);

    const { status, body } = await remove(member.client, id);
    expect([status, body]).toEqual([200, { deleted: true, id }]);
    await processesGone(mark, 2000);
    for (const path of ['', '/messages', '/files']) {
      expect((await member.client.get(`/v1/tasks/${id}${path}`)).status).toBe(404);
    }
    for (const path of ['', '/content']) {
      expect((await member.client.get(`/v1/files/${file?.id}${path}`)).status).toBe(404);
    }
    for (const path of ['cancel', 'messages', 'interaction']) {
      const json = { messages: { content: 'x' }, interaction: { interactionId: 'x', content: 'x' } }[path];
      expect((await member.client.post(`/v1/tasks/${id}/${path}`, json)).status).toBe(404);
    }
    expect((await remove(member.client, id)).status).toBe(404);
    expect(await leftOf(service, id)).toEqual(NOTHING);
    await workdirGone(id);
    await until('the record of it to be gone', async () => {
      return (await service.db.query('SELECT 1 FROM folder_removals')).length === 0;
    });
    expect(existsSync(join(workdirs(), id))).toBe(false);
  });

  it('one that is queued, waits for an answer, or is completed, failed or cancelled', async () => {
    const touch = call('bash', { command: 'touch a' });
    const contents: Record<string, string> = {
      queued: script({ hang: true }),
      awaiting_input: script(touch, call('ask', { question: 'Why?' })),
      completed: script(touch, call('publish', { path: 'a' }), { text: 'Done.' }),
      failed: script(touch, { status: 400 }),
      cancelled: script(touch, { hang: true }),
    };
    const one = async (status: string, content: string): Promise<void> => {
      const { id } = await createTask(member.client, { content });
      if (status === 'cancelled') {
        await until('the command to be done', () => existsSync(join(workdirs(), id, 'a')));
        await member.client.request('POST', `/v1/tasks/${id}/cancel`);
      }
      if (status !== 'queued') await reaches(member.client, id, status);
      expect((await remove(member.client, id)).status).toBe(200);
      expect(await leftOf(service, id)).toEqual(NOTHING);
      await workdirGone(id);
    };
    await Promise.all(Object.entries(contents).map(([status, content]) => one(status, content)));
  });

  it('leaves no bytes: those that nothing else refers to go from the storage, the others stay', async () => {
    const shared = await upload(service, member, 'bytes of two tasks');
    const { id: uploadId } = await upload(service, member, 'bytes of one task');
    const attachments = [{ uploadId: shared.id }, { uploadId }];
    const first = await createTask(member.client, { content: 'x', attachments });
    const second = await createTask(member.client, { content: 'x', attachments: [{ uploadId: shared.id }] });
    await finished(member.client, first.id);
    await finished(member.client, second.id);
    await remove(member.client, first.id);
    await service.db.query('UPDATE uploads SET expires_at = now()');
    // What only snapshots of the deleted task named goes a day later.
    await service.db.query("UPDATE snapshot_objects SET unnamed_at = unnamed_at - interval '25 hours'");
    await service.app.get(SnapshotStore, { strict: false }).forget();
    const cleaner = service.app.get(FileCleaner, { strict: false });
    await cleaner.purgeUploads();
    const root = join(service.app.get(DataDir).path, 'files');
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) utimesSync(join(entry.parentPath, entry.name), old, old);
    }
    await cleaner.sweep();
    const rows = await service.db.query<{ sha256: string }>('SELECT DISTINCT sha256 FROM files');
    expect((await storedFiles(service)).sort()).toEqual(rows.map(({ sha256 }) => sha256).sort());
    expect(rows).toHaveLength(1);
  });

  it('a stored create is replayed without the title and creates nothing; answers that hold messages are gone', async () => {
    const post = <T>(path: string, key: string, json: unknown) =>
      member.client.request<T>('POST', path, { json, headers: { 'Idempotency-Key': key } });
    const json = { content: script(call('ask', { question: 'Why?' }), { text: 'A' }, { text: 'B' }), title: 'Secret' };
    const [create, answer, send] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    const made = await post<{ task: TaskBody }>('/v1/tasks', create, json);
    const path = `/v1/tasks/${made.body.task.id}`;
    const { pendingInteraction } = await reaches(member.client, made.body.task.id, 'awaiting_input');
    const reply = { interactionId: pendingInteraction?.id, content: 'Because.' };
    expect((await post(`${path}/interaction`, answer, reply)).status).toBe(202);
    await finished(member.client, made.body.task.id);
    expect((await post(`${path}/messages`, send, { content: 'Hidden.' })).status).toBe(202);
    await remove(member.client, made.body.task.id);

    const count = async () => (await service.db.query('SELECT 1 FROM tasks')).length;
    const before = await count();
    const again = await post<{ task: TaskBody }>('/v1/tasks', create, json);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(again.text).toBe(made.text.replace('"title":"Secret"', '"title":""'));
    expect(again.headers.get('location')).toBe(path);
    expect(await count()).toBe(before);
    for (const [below, key, body] of [
      ['interaction', answer, reply],
      ['messages', send, { content: 'Hidden.' }],
    ] as const) {
      const { status, body: fault } = await post<ErrorBody>(`${path}/${below}`, key, body);
      expect([status, fault.error.code]).toEqual([404, 'not_found']);
    }
    const stored = await service.db.query<{ body: string }>('SELECT body FROM idempotency_keys');
    expect(stored.filter(({ body }) => /Secret|Hidden|Because/.test(body))).toEqual([]);
  });

  it('a stored fork is replayed without what it was made of, and creates nothing', async () => {
    const given = { title: 'Secret', metadata: { about: 'Secret' }, tags: ['secret'] };
    const source = await runTask(member.client, script({ text: 'Secret answer.' }), given);
    const headers = { 'Idempotency-Key': randomUUID() };
    const path = `/v1/tasks/${source.id}/fork`;
    const fork = () => member.client.post<{ task: TaskBody }>(path, {}, { headers });
    const made = await fork();
    expect(made.body.task.result).toMatchObject({ text: 'Secret answer.' });
    await remove(member.client, made.body.task.id);
    const again = await fork();
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    const result = { ...made.body.task.result, text: '' };
    expect(again.body.task).toEqual({ ...made.body.task, title: '', result, metadata: {}, tags: [] });
    const stored = `SELECT 1 FROM idempotency_keys WHERE location = $1 AND body ILIKE '%secret%'`;
    expect(await service.db.query(stored, [`/v1/tasks/${made.body.task.id}`])).toEqual([]);
    expect((await member.client.get(`/v1/tasks/${made.body.task.id}`)).status).toBe(404);
  });

  slowIt('a deletion that races with its work leaves nothing, whichever of them is first', async () => {
    const ids: string[] = [];
    for (let round = 0; round < (SLOW ? 12 : 3); round++) {
      const content = script(call('bash', { command: 'touch a' }), { text: 'Quick.', firstByteMs: round });
      const { id } = await createTask(member.client, { content });
      if (round % 3 === 0) await reaches(member.client, id, 'running', 'completed');
      if (round % 3 === 1) await reaches(member.client, id, 'completed');
      expect((await remove(member.client, id)).status).toBe(200);
      ids.push(id);
    }
    for (const id of ids) {
      await workdirGone(id);
      expect(await leftOf(service, id)).toEqual(NOTHING);
    }
    // The worker is well: it still takes work.
    expect(await runTask(member.client, script({ text: 'Still here.' }))).toMatchObject({ status: 'completed' });
  });
});

slowDescribe('A task that is deleted while its worker is dead (reference §5)', () => {
  it('the next worker removes its workdir', async () => {
    const folder = temporaryFolder();
    const model = await ModelServer.start();
    const env = { DATA_DIR: folder.path, LEASE_SECONDS: String(LEASE), OPENAI_COMPATIBLE_URL: model.url };
    const api = await bootApp({ env });
    const secret = { DATABASE_URL: api.db.url, SECRET_KEY: 'a secret of the tests, at least 32 bytes long' };
    const worker = () => ServiceProcess.start({ ...env, ...secret, ROLE: 'worker', LOG_LEVEL: 'fatal' });
    try {
      const { client } = await makeMember(api);
      const mark = newMark();
      const first = await worker();
      const { id } = await createTask(client, {
        content: script(call('bash', { command: `touch kept; sleep ${mark}` })),
      });
      await sleeps(mark);
      await first.end('SIGKILL');
      expect((await remove(client, id)).status).toBe(200);
      await processesGone(mark);
      const kept = await api.db.query<{ id: string }>('SELECT id FROM folder_removals');
      expect(kept).toEqual([{ id }]);
      const second = await worker();
      const records = () => api.db.query('SELECT 1 FROM folder_removals');
      await until('the record to be gone', async () => (await records()).length === 0);
      expect(readdirSync(folder.path, { recursive: true }).filter((name) => String(name).includes(id))).toEqual([]);
      expect(await second.end()).toBe(0);
    } finally {
      await api.close();
      await model.stop();
      folder.remove();
    }
  });
});

slowDescribe('The workdirs of deleted tasks (reference §5)', () => {
  let db: TestDatabase;
  let worker: TestApp;
  beforeEach(async () => {
    db = await createDatabase();
    worker = await bootWorker({ db, env: { ROLE: 'worker' } });
  });
  afterEach(async () => {
    await worker.close();
    await db.drop();
  });

  const driver = () => worker.app.get(SandboxSelector, { strict: false }).current;
  /** As if so many tasks had been deleted, one after the other. */
  const deleted = async (count: number): Promise<string[]> => {
    const ids = Array.from({ length: count }, () => randomUUID());
    await db.query(
      `INSERT INTO folder_removals (kind, id, not_before)
       SELECT 'workdir', id, clock_timestamp() - interval '1 minute' + n * interval '1 second'
       FROM unnest($1::uuid[]) WITH ORDINALITY AS t(id, n)`,
      [ids],
    );
    return ids;
  };
  const onRecord = () =>
    db.query<{ id: string; due: boolean }>(
      'SELECT id, not_before <= clock_timestamp() AS due FROM folder_removals ORDER BY not_before',
    );

  it('those that cannot be removed do not keep those behind them waiting, and are tried again later', async () => {
    const remove = jest.spyOn(driver(), 'remove');
    // More than there are looks at the table until the test gives up.
    const stuck = 15;
    for (let n = 0; n < stuck; n++) remove.mockRejectedValueOnce(new Error('EIO'));
    const ids = await deleted(stuck + 2);
    await until('the others to be removed', async () => (await onRecord()).length === stuck);
    expect(remove.mock.calls).toEqual(ids.map((id) => [id]));
    expect(await onRecord()).toEqual(ids.slice(0, stuck).map((id) => ({ id, due: false })));
    await db.query('UPDATE folder_removals SET not_before = now()');
    await until('them to be removed too', async () => (await onRecord()).length === 0);
  });

  it('a worker that stops finishes the one it is at, and leaves the others due', async () => {
    let finish: () => void = () => undefined;
    const remove = jest.spyOn(driver(), 'remove');
    remove.mockImplementationOnce(() => new Promise((resolve) => (finish = resolve)));
    const stop = jest.spyOn(worker.app.get(ChoreRunner), 'beforeApplicationShutdown');
    const [, ...others] = await deleted(3);
    await until('the first to be removed', () => remove.mock.calls.length > 0);
    const closed = worker.close();
    await until('the worker to stop', () => stop.mock.calls.length > 0);
    finish();
    await closed;
    expect(remove).toHaveBeenCalledTimes(1);
    expect(await onRecord()).toEqual(others.map((id) => ({ id, due: true })));
  });
});
