import { jest } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { existsSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { FileStorage } from '../../src/resources/files/storage/file-storage.js';
import { LocalStorage } from '../../src/resources/files/storage/local/local-storage.js';
import { SnapshotStore } from '../../src/resources/snapshots/snapshot-store.js';
import { snapshotsPlace } from '../../src/resources/files/storage/snapshots-place.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { call, createTask, finished, reaches, readMessages, runTask, script } from '../harness/tasks.js';

const LIMIT = 8 * 1024 * 1024;
const bash = (command: string) => call('bash', { command });

/** The workspaces whose counter is not the sum of the objects that their snapshots name. */
const DRIFT = `
SELECT s.workspace_id FROM storage_usage s WHERE snapshot_bytes <> coalesce((
  SELECT sum(o.bytes) FROM snapshot_objects o
  WHERE o.workspace_id = s.workspace_id AND EXISTS (
    SELECT FROM snapshot_uses u WHERE u.workspace_id = o.workspace_id AND u.object = o.sha256)), 0)`;

describe('Snapshots of the folder of a task (reference §22)', () => {
  let model: ModelServer;
  const service = useService(async () => {
    model = await ModelServer.start();
    const plans = { paid: { storageBytes: LIMIT } };
    return bootWorker({ config: { plans, transparency: { data: true } }, env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  afterAll(() => model.stop());
  afterEach(async () => expect(await service.db.query(DRIFT)).toEqual([]));

  const rows = (taskId: string) =>
    service.db.query<{ id: string; turn: number; step: number; files: number; manifest: string }>(
      'SELECT id, turn, step, files, manifest FROM snapshots WHERE task_id = $1 ORDER BY created_at, id',
      [taskId],
    );
  const objects = async ({ workspace }: Member) => {
    const text =
      'SELECT count(*)::int AS n, count(unnamed_at)::int AS unnamed FROM snapshot_objects WHERE workspace_id = $1';
    return (await service.db.query<{ n: number; unnamed: number }>(text, [workspace.id]))[0];
  };
  const say = async ({ client }: Member, taskId: string, ...turns: Parameters<typeof script>) => {
    await client.post(`/v1/tasks/${taskId}/messages`, { content: script(...turns) });
    await finished(client, taskId);
  };

  /** Makes what is stored of a workspace as old as the cleaner wants it. */
  const age = async ({ workspace }: Member) => {
    const storage = service.app.get(LocalStorage, { strict: false });
    const text = 'SELECT sha256 FROM snapshot_objects WHERE workspace_id = $1';
    const stored = await service.db.query<{ sha256: string }>(text, [workspace.id]);
    for (const { sha256 } of stored) utimesSync(storage.pathOf(snapshotsPlace(workspace.id), sha256), 0, 0);
  };

  it('one is taken at the end of each turn, and a turn that changed nothing shares the manifest of the last one', async () => {
    const who = await makeMember(service, { role: 'owner' });
    const task = await runTask(who.client, script(bash('echo one > a; mkdir b; echo two > b/c'), { text: 'Done.' }));
    await say(who, task.id, { text: 'Nothing to do.' });
    await say(who, task.id, bash('echo three > d'), { text: 'Done.' });
    const [first, second, third] = await rows(task.id);
    expect([first?.turn, second?.turn, third?.turn]).toEqual([1, 2, 3]);
    expect(second?.manifest).toBe(first?.manifest);
    expect(third?.manifest).not.toBe(first?.manifest);
    expect((third?.files ?? 0) - (first?.files ?? 0)).toBe(1);
  });

  it('a task that never had a folder has none', async () => {
    const who = await makeMember(service, { role: 'owner' });
    const task = await runTask(who.client, script({ text: 'Hello.' }));
    expect(await rows(task.id)).toEqual([]);
  });

  it('one is taken when a question ends the run', async () => {
    const who = await makeMember(service, { role: 'owner' });
    const content = script(bash('echo one > a'), call('ask', { question: 'Which?' }));
    const task = await createTask(who.client, { content });
    await reaches(who.client, task.id, 'awaiting_input');
    expect(await rows(task.id)).toMatchObject([{ turn: 1 }]);
  });

  it('the last of each of the last 20 turns is kept', async () => {
    const who = await makeMember(service, { role: 'owner' });
    const task = await runTask(who.client, script(bash('echo one > a'), { text: 'Done.' }));
    await service.db.query('UPDATE tasks SET turn = 20 WHERE id = $1', [task.id]);
    await say(who, task.id, { text: 'Done.' });
    expect(await rows(task.id)).toMatchObject([{ turn: 21 }]);
    await service.db.query('UPDATE tasks SET turn = 39 WHERE id = $1', [task.id]);
    await say(who, task.id, { text: 'Done.' });
    expect(await rows(task.id)).toMatchObject([{ turn: 21 }, { turn: 40 }]);
  });

  it('those of a workspace share blobs, and two workspaces never do', async () => {
    const [who, other] = [await makeMember(service, { role: 'owner' }), await makeMember(service, { role: 'owner' })];
    const content = script(bash(`yes ${randomBytes(20).toString('hex')} | head -c 300000 > same`), { text: 'Done.' });
    for (const { client } of [who, who, other]) await runTask(client, content);
    // Two manifests, and the bytes once.
    expect((await objects(who))?.n).toBe(3);
    expect((await objects(other))?.n).toBe(2);
    const blobs = await service.db.query<{ n: number }>(
      'SELECT count(DISTINCT b.object)::int AS n FROM snapshot_blobs b WHERE workspace_id = $1',
      [other.workspace.id],
    );
    expect(blobs).toEqual([{ n: 1 }]);
  });

  it('what another workspace has is seen neither by the work for a snapshot nor by what it counts', async () => {
    const [has, asks, knowsNothing] = [await makeMember(service), await makeMember(service), await makeMember(service)];
    const puts = jest.spyOn(service.app.get(FileStorage, { strict: false }), 'put');
    /** How many objects the snapshot writes, and what the workspace stores then. */
    const costOf = async ({ client, workspace }: Member, seed: string) => {
      puts.mockClear();
      // Text of 51 KB that no packing makes smaller than half, by one process.
      const line = `require('crypto').createHash('sha512').update('${seed} ' + n).digest('hex')`;
      const bytes = `node -e "for (let n = 0; n < 400; n++) console.log(${line})" > same`;
      await runTask(client, script(bash(bytes), { text: 'Done.' }));
      const text = 'SELECT snapshot_bytes::int AS bytes FROM storage_usage WHERE workspace_id = $1';
      const [row] = await service.db.query<{ bytes: number }>(text, [workspace.id]);
      return { writes: puts.mock.calls.length, bytes: row?.bytes ?? 0 };
    };
    const [seed, unseen] = [randomBytes(20).toString('hex'), randomBytes(20).toString('hex')];
    await costOf(has, seed);
    const [known, unknown] = [await costOf(asks, seed), await costOf(knowsNothing, unseen)];
    expect(known.writes).toBe(unknown.writes);
    // The text is other text, of the same length.
    expect(Math.abs(known.bytes - unknown.bytes)).toBeLessThan(unknown.bytes / 50);
    // Of its own it sees it: one object less, the manifest alone.
    expect((await costOf(has, seed)).writes).toBe(unknown.writes - 1);
    puts.mockRestore();
  });

  it('they count to what the workspace stores until their task is deleted, and their bytes go a day later', async () => {
    const who = await makeMember(service, { role: 'owner' });
    const task = await runTask(who.client, script(bash('head -c 200000 /dev/urandom > random'), { text: 'Done.' }));
    const counted = async () => {
      const text = 'SELECT snapshot_bytes::int AS bytes FROM storage_usage WHERE workspace_id = $1';
      return (await service.db.query<{ bytes: number }>(text, [who.workspace.id]))[0]?.bytes;
    };
    expect(await counted()).toBeGreaterThan(200_000);
    const cleaner = service.app.get(FileCleaner, { strict: false });
    await age(who);
    expect(await cleaner.sweep()).toBe(0);
    await who.client.delete(`/v1/tasks/${task.id}`);
    expect(await counted()).toBe(0);
    const store = service.app.get(SnapshotStore, { strict: false });
    expect([await store.forget(), await cleaner.sweep()]).toEqual([0, 0]);
    const late = `UPDATE snapshot_objects SET unnamed_at = now() - interval '25 hours' WHERE workspace_id = $1`;
    await service.db.query(late, [who.workspace.id]);
    expect([await store.forget(), await cleaner.sweep()]).toEqual([2, 2]);
  });

  it('none is taken while what they left behind in a day is more than the workspace may store, and a data part says so', async () => {
    const who = await makeMember(service, { role: 'owner' });
    const task = await runTask(who.client, script(bash('echo one > a'), { text: 'Done.' }));
    await service.db.query(
      `INSERT INTO snapshot_objects (workspace_id, sha256, bytes, unnamed_at) VALUES ($1, $2, $3, now())`,
      [who.workspace.id, 'f'.repeat(64), LIMIT + 1],
    );
    const told = async () =>
      (await readMessages(who.client, task.id)).flatMap(({ parts }) => parts.filter(({ type }) => type === 'data'));
    await say(who, task.id, bash('echo two > a'), { text: 'Done.' });
    expect((await rows(task.id)).map(({ turn }) => turn)).toEqual([1]);
    const data = { code: 'left_too_much', message: expect.stringContaining('no snapshot of this turn') };
    expect(await told()).toMatchObject([{ name: 'snapshots', data }]);
    await service.db.query('DELETE FROM snapshot_objects WHERE sha256 = $1', ['f'.repeat(64)]);
    await say(who, task.id, bash('echo three > a'), { text: 'Done.' });
    expect((await rows(task.id)).map(({ turn }) => turn)).toEqual([1, 3]);
    expect(await told()).toHaveLength(1);
  });

  it('a version of the service that knows no snapshots leaves their bytes', async () => {
    const who = await makeMember(service, { role: 'owner' });
    await runTask(who.client, script(bash('echo kept > a'), { text: 'Done.' }));
    const found = await service.db.query<{ sha256: string }>(
      'SELECT sha256 FROM snapshot_objects WHERE workspace_id = $1',
      [who.workspace.id],
    );
    expect(found.length).toBeGreaterThan(1);
    const storage = service.app.get(LocalStorage, { strict: false });
    for (const { sha256 } of found) {
      expect(existsSync(storage.pathOf(snapshotsPlace(who.workspace.id), sha256))).toBe(true);
      expect(existsSync(storage.pathOf(who.workspace.id, sha256))).toBe(false);
    }
    // What that version asks of all that lies in the storage: it removes the answer.
    const asked = `SELECT b.sha256 FROM unnest($1::uuid[], $2::text[]) AS b(workspace_id, sha256) JOIN workspaces w ON w.id = b.workspace_id
      WHERE NOT EXISTS (SELECT FROM uploads u WHERE u.workspace_id = b.workspace_id AND u.sha256 = b.sha256)
        AND NOT EXISTS (SELECT FROM files f WHERE f.workspace_id = b.workspace_id AND f.sha256 = b.sha256)`;
    const digests = found.map(({ sha256 }) => sha256);
    const places = digests.map(() => snapshotsPlace(who.workspace.id));
    expect(await service.db.query(asked, [places, digests])).toEqual([]);
  });

  it('their bytes go with their workspace', async () => {
    const who = await makeMember(service, { role: 'owner' });
    await runTask(who.client, script(bash('echo gone > a'), { text: 'Done.' }));
    const path = service.app.get(LocalStorage, { strict: false }).pathOf(snapshotsPlace(who.workspace.id), 'aa');
    const folder = dirname(dirname(path));
    expect(existsSync(folder)).toBe(true);
    await service.db.query(`INSERT INTO folder_removals (kind, id, not_before) VALUES ('storage', $1, now())`, [
      who.workspace.id,
    ]);
    await service.app.get(FileCleaner, { strict: false }).removeStorages();
    expect(existsSync(folder)).toBe(false);
  });

  it('a folder with too many files has none, a data part says so, and the turn ends well', async () => {
    const who = await makeMember(service, { role: 'owner' });
    // 20,000 files, whose paths have 3,500 bytes.
    const command =
      'n=$(printf "%0250d" 1); for i in $(seq 14); do mkdir $n && cd -P $n; done; seq 20000 | xargs touch; ls | wc -l';
    const task = await runTask(who.client, script(bash(command), { text: 'Done.' }));
    expect(task).toMatchObject({ status: 'completed' });
    expect(await rows(task.id)).toEqual([]);
    const parts = (await readMessages(who.client, task.id)).flatMap((message) => message.parts);
    expect(parts.filter(({ type }) => type === 'data')).toMatchObject([
      { name: 'snapshots', data: { code: 'too_many_files', message: expect.stringContaining('500,000 files') } },
    ]);
  });

  it('one that fails is said by a data part at the end of the turn, and the next turn takes one', async () => {
    const who = await makeMember(service, { role: 'owner' });
    const gone = new Error('The storage is away.');
    const store = jest.spyOn(service.app.get(SnapshotStore, { strict: false }), 'of');
    store.mockImplementationOnce(() => ({ known: () => Promise.reject(gone), put: () => Promise.reject(gone), open: () => Promise.reject(gone) })); // prettier-ignore
    const task = await runTask(who.client, script(bash('echo one > a'), { text: 'Done.' }));
    store.mockRestore();
    expect([task.status, await rows(task.id)]).toEqual(['completed', []]);
    await say(who, task.id, { text: 'Nothing to do.' });
    expect(await rows(task.id)).toMatchObject([{ turn: 2 }]);
    const parts = (await readMessages(who.client, task.id)).flatMap((message) => message.parts);
    expect(parts.filter(({ type }) => type === 'data')).toMatchObject([
      {
        name: 'snapshots',
        data: { code: 'snapshot_failed', message: expect.stringContaining('no snapshot of this turn') },
      },
    ]);
  });

  it('above the quota the newest alone is kept, and a data part says so', async () => {
    const who = await makeMember(service, { role: 'owner' });
    const task = await runTask(who.client, script(bash('head -c 100000 /dev/urandom > random'), { text: 'Done.' }));
    await say(who, task.id, bash('head -c 300000 /dev/urandom > random'), { text: 'Done.' });
    expect(await rows(task.id)).toHaveLength(2);
    await service.db.query('UPDATE storage_usage SET stored_bytes = $2 WHERE workspace_id = $1', [
      who.workspace.id,
      LIMIT - 900_000,
    ]);
    await say(who, task.id, bash('head -c 250000 /dev/urandom > random'), { text: 'Done.' });
    expect(await rows(task.id)).toMatchObject([{ turn: 3 }]);
    const told = (await readMessages(who.client, task.id))
      .flatMap(({ parts }) => parts)
      .filter((part) => part.type === 'data');
    expect(told).toMatchObject([{ name: 'snapshots', data: { code: 'storage_exhausted' } }]);
  });
});
