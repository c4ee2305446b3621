import { existsSync } from 'node:fs';
import pg from 'pg';
import { newId } from '../../src/platform/database/ids.js';
import { Machine } from '../../src/work/machines/machine.js';
import { TaskFolders } from '../../src/work/runs/task-folders.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { foldersOf } from '../harness/folder-listing.js';
import { ModelServer } from '../harness/model-server.js';
import { call, finished, readResults, runTask, script } from '../harness/tasks.js';

describe('Folders of tasks that live on another machine (reference §23)', () => {
  let model: ModelServer;
  let who: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => (who = await makeMember(service, { role: 'owner' })));
  afterAll(() => model.stop());

  const bash = (command: string) => call('bash', { command });
  const made = async () => {
    const { id } = await runTask(who.client, script(bash('echo 1 > a; chmod 500 .'), { text: 'Done.' }));
    return id;
  };
  /** A machine that is on record. */
  const another = async () => {
    const id = newId();
    await service.db.query(
      `INSERT INTO workers (id, machine_id, host, places, version) VALUES ($1, $2, 'mill', 4, '1')`,
      [newId(), id],
    );
    return id;
  };
  const moves = (taskId: string, machineId: string) =>
    service.db.query('UPDATE tasks SET machine_id = $2 WHERE id = $1', [taskId, machineId]);
  const isHere = async (taskId: string) => existsSync((await foldersOf(service, taskId))['workdir'] ?? '');
  // Also while this is the only machine that works: others may have been there when it was away.
  const sweep = () => service.app.get(TaskFolders, { strict: false }).removeNeedless(new AbortController().signal);

  it('are removed, and the task finds its files when it comes back', async () => {
    const [there, stays] = [await made(), await made()];
    await moves(there, await another());
    expect(await sweep()).toBe(1);
    expect([await isHere(there), await isHere(stays)]).toEqual([false, true]);
    await who.client.post(`/v1/tasks/${there}/messages`, { content: script(bash('cat a'), { text: 'Done.' }) });
    await finished(who.client, there);
    expect((await readResults(who.client, there))[1]).toMatchObject({ output: { stdout: '1\n' } });
    const [row] = await service.db.query<object>('SELECT machine_id FROM tasks WHERE id = $1', [there]);
    expect(row).toEqual({ machine_id: service.app.get(Machine, { strict: false }).id });
  });

  it('are removed when the task was deleted, and another machine has read of it', async () => {
    const id = await made();
    await who.client.delete(`/v1/tasks/${id}`);
    expect(await sweep()).toBe(0);
    // A lease after its last run any worker may take this, and forget it.
    await service.db.query(`DELETE FROM folder_removals WHERE id = $1`, [id]);
    expect(await sweep()).toBe(1);
    expect(await isHere(id)).toBe(false);
  });

  it('stay while the task runs, and while a claim has it in hand', async () => {
    const [runs, claimed] = [await made(), await made()];
    const there = await another();
    await service.db.query(`UPDATE tasks SET status = 'running', machine_id = $2 WHERE id = $1`, [runs, there]);
    await moves(claimed, there);
    const client = new pg.Client({ connectionString: service.db.url });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM tasks WHERE id = $1 FOR UPDATE', [claimed]);
      expect(await sweep()).toBe(0);
      // What waits for the lock sees the run that the claim has begun.
      await client.query('ROLLBACK');
    } finally {
      await client.end();
    }
    expect([await isHere(runs), await isHere(claimed)]).toEqual([true, true]);
    expect(await sweep()).toBe(1);
    expect([await isHere(runs), await isHere(claimed)]).toEqual([true, false]);
  });

  it('stay when no machine of that id is on record: the file with the own id may have been lost', async () => {
    const id = await made();
    await moves(id, newId());
    expect(await sweep()).toBe(0);
    expect(await isHere(id)).toBe(true);
  });
});
