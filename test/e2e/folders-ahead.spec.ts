import { jest } from '@jest/globals';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { newId } from '../../src/platform/database/ids.js';
import { Database } from '../../src/platform/database/database.js';
import { Env } from '../../src/platform/config/env.js';
import { Notices } from '../../src/platform/notices/notices.js';
import { LocalStorage } from '../../src/resources/files/storage/local/local-storage.js';
import { snapshotsPlace } from '../../src/resources/files/storage/snapshots-place.js';
import { Machine } from '../../src/work/machines/machine.js';
import { RunClaims } from '../../src/work/runs/run-claims.js';
import { RunLeases } from '../../src/work/runs/run-leases.js';
import { TaskFolders } from '../../src/work/runs/task-folders.js';
import { bootWorker, useService } from '../harness/app.js';
import { answerApproval, type Approval, approvalOf } from '../harness/approvals.js';
import { foldersOf } from '../harness/folder-listing.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { PauseBench } from '../harness/pauses.js';
import { createTask, finished, readMessages } from '../harness/tasks.js';
import { until } from '../harness/until.js';

/** Bytes. */
const LARGE = 2_000_000_000;

interface Placed {
  machine_id: string | null;
  folder_ahead: boolean;
}

describe('What a folder has and no snapshot (reference §22, §23)', () => {
  let model: HeldModel;
  let bench: PauseBench;
  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url } });
  });
  beforeAll(async () => {
    bench = await PauseBench.make(service, model);
  });
  afterAll(() => model.server.stop());

  const here = () => service.app.get(Machine, { strict: false }).id;
  const begin = async (id: string | null) => {
    if (id === null) return (await createTask(bench.member.client, { content: 'Go on.' })).id;
    await bench.send(id, 'Go on.');
    return id;
  };
  const turn = async (id: string | null, ...commands: string[]) => {
    const task = await begin(id);
    (await model.asked()).answer(bash(...commands));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(bench.member.client, task);
    return task;
  };
  const placed = async (id: string) =>
    (await service.db.query<Placed>('SELECT machine_id, folder_ahead FROM tasks WHERE id = $1', [id]))[0];
  const move = (id: string, machineId: string | null) =>
    service.db.query('UPDATE tasks SET machine_id = $2 WHERE id = $1', [id, machineId]);
  const turns = async (id: string) =>
    (await service.db.query<{ turn: number }>('SELECT turn FROM snapshots WHERE task_id = $1 ORDER BY turn', [id])).map(
      (row) => row.turn,
    );
  const shown = async (id: string) =>
    (await bench.member.client.get(`/v1/tasks/${id}/workdir/content?path=a`)).text.trim();
  const dataParts = async (id: string) =>
    (await readMessages(bench.member.client, id, '?limit=100')).flatMap(({ parts }) =>
      parts.filter(({ type }) => type === 'data'),
    );
  const remove = async (id: string) => {
    const { workdir = '', tmp = '' } = await foldersOf(service, id);
    for (const path of [workdir, dirname(tmp)]) rmSync(path, { recursive: true, force: true });
  };

  it('is known from the step on, and is nothing when the run has ended', async () => {
    const id = await begin(null);
    const first = await model.asked();
    expect(await placed(id)).toEqual({ machine_id: here(), folder_ahead: false });
    first.answer(bash('echo one > a'));
    const second = await model.asked();
    expect(await placed(id)).toEqual({ machine_id: here(), folder_ahead: true });
    second.answer({ text: 'Done.' });
    await finished(bench.member.client, id);
    expect(await placed(id)).toEqual({ machine_id: here(), folder_ahead: false });
  });

  it.each([
    // One that begins is on record, and one that may run again is known by its result.
    ['while it runs', bash('until [ -e go ]; do sleep 0.1; done')],
    ['from its result on', { calls: [{ name: 'write', arguments: { path: 'b', content: 'two' } }] }],
  ])('is known of a call that waited for an approval over the end of a run, %s', async (_, answer) => {
    const { client } = bench.member;
    const { id } = await createTask(client, { content: 'Begin.', approvals: 'writes' });
    const approve = async (before?: Approval) => {
      const asked = await approvalOf(client, id, before);
      expect(await placed(id)).toMatchObject({ folder_ahead: false });
      await answerApproval(client, id, asked, { decision: 'approve' });
      return asked;
    };
    (await model.asked()).answer(bash('echo one > a'));
    const first = await approve();
    (await model.asked()).answer(answer);
    await approve(first);
    await until('the folder to be ahead', async () => (await placed(id))?.folder_ahead);
    writeFileSync(join((await foldersOf(service, id))['workdir'] ?? '', 'go'), '');
    (await model.asked()).answer({ text: 'Done.' });
    await finished(client, id);
    expect(await placed(id)).toEqual({ machine_id: here(), folder_ahead: false });
  });

  it('a task without a folder is on no machine', async () => {
    const id = await begin(null);
    (await model.asked()).answer({ calls: [{ name: 'nope', arguments: {} }] });
    (await model.asked()).answer({ text: 'Done.' });
    await finished(bench.member.client, id);
    expect(await placed(id)).toEqual({ machine_id: null, folder_ahead: false });
    await move(id, newId());
    await begin(id);
    const asked = await model.asked();
    expect(asked.said.join()).not.toContain('no trace');
    asked.answer({ text: 'Done.' });
    await finished(bench.member.client, id);
    expect(await dataParts(id)).toEqual([]);
  });

  it('a cancelled run has a snapshot of what it did', async () => {
    const id = await turn(null, 'echo one > a');
    await begin(id);
    (await model.asked()).answer(bash('echo two > a'));
    const open = await model.asked();
    await bench.member.client.post(`/v1/tasks/${id}/cancel`);
    await until('the snapshot', async () => (await turns(id)).length === 2);
    open.answer({ text: 'Late.' });
    expect(await shown(id)).toBe('two');
    expect(await placed(id)).toEqual({ machine_id: here(), folder_ahead: false });
    await remove(id);
    await turn(id, 'cat a');
    expect(await dataParts(id)).toEqual([]);
  });

  it('is waited for while its machine works, and for a lease when that may come back', async () => {
    const [owner, other] = [newId(), newId()];
    const claims = new RunClaims(
      service.app.get(Database, { strict: false }),
      service.app.get(Notices, { strict: false }),
      { id: other } as Machine,
      service.app.get(Env, { strict: false }),
    );
    const seen = (at: string) =>
      service.db.query(
        `INSERT INTO workers (id, machine_id, host, places, version, seen_at) VALUES ($1, $2, 'mill', 4, '1', now() + $3::interval)`,
        [newId(), owner, at],
      );
    const id = await turn(null, 'echo one > a');
    // So that this worker leaves it: it is no candidate itself.
    await service.db.query(`UPDATE tasks SET folder_ahead = true, machine_id = $2 WHERE id = $1`, [id, owner]);
    await seen('1 hour');
    await begin(id);
    const [run] = await service.db.query<{ id: string }>(`SELECT id FROM runs WHERE task_id = $1 AND status = 'queued'`, [id]); // prettier-ignore
    const wait = (seconds: number) =>
      service.db.query(`UPDATE runs SET created_at = clock_timestamp() - $2 * interval '1 second' WHERE id = $1`, [run?.id, seconds]); // prettier-ignore
    const queued = async () => (await claims.queued(50, 50, [])).map((one) => one.id).includes(run?.id ?? '');
    await wait(600);
    expect([await queued(), await claims.claim(run?.id ?? '')]).toEqual([false, null]);
    await service.db.query('DELETE FROM workers WHERE machine_id = $1', [owner]);
    await wait(3);
    expect([await queued(), await claims.claim(run?.id ?? '')]).toEqual([false, null]);
    await wait(600);
    const asked = await model.asked();
    asked.answer({ text: 'Done.' });
    await finished(bench.member.client, id);
    expect((await placed(id))?.machine_id).toBe(here());
  });

  it('a run that ends before the folders are restored takes no snapshot of what was left here', async () => {
    const id = await turn(null, 'echo old > a');
    await turn(id, 'echo new > a');
    // The last turn was on another machine: here lies what the first one left.
    writeFileSync(`${(await foldersOf(service, id))['workdir'] ?? ''}/a`, 'old\n');
    await move(id, newId());
    // A pause that is committed between the claim and the load.
    await service.db.query(
      `CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.paused := true; RETURN NEW; END $$`,
    );
    await service.db.query(
      `CREATE TRIGGER late BEFORE UPDATE ON tasks FOR EACH ROW WHEN (NEW.status = 'running' AND OLD.status = 'queued') EXECUTE FUNCTION late()`,
    );
    await begin(id);
    await until('the run to be put aside', async () => (await bench.runsOf(id)).at(-1)?.status === 'paused');
    await service.db.query('DROP TRIGGER late ON tasks');
    expect([await shown(id), await turns(id)]).toEqual(['new', [1, 2]]);
    await bench.resume(id);
    (await model.asked()).answer(bash('cat a'));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(bench.member.client, id);
    expect(await shown(id)).toBe('new');
  });

  it('a run that is cancelled before the folders are restored leaves the size of those that another machine has', async () => {
    const id = await turn(null, 'echo one > a');
    await service.db.query('UPDATE tasks SET machine_id = $2, workdir_bytes = $3 WHERE id = $1', [id, newId(), LARGE]);
    const storage = service.app.get(LocalStorage, { strict: false });
    const opened = jest.spyOn(storage, 'open').mockReturnValueOnce(new Promise(() => undefined));
    await begin(id);
    await until('the folders to be restored', () => opened.mock.calls.length > 0);
    await bench.member.client.post(`/v1/tasks/${id}/cancel`);
    await until('the run to have ended', () => service.app.get(RunLeases, { strict: false }).size === 0);
    opened.mockRestore();
    const [row] = await service.db.query<object>('SELECT workdir_bytes::int AS size FROM tasks WHERE id = $1', [id]);
    expect(row).toEqual({ size: LARGE });
  });

  it('a database that fails for a moment while folders are restored fails no task', async () => {
    const id = await turn(null, 'echo one > a');
    await move(id, newId());
    await service.db.query('CREATE SEQUENCE once');
    await service.db.query(`CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('once') = 1 THEN RAISE EXCEPTION 'terminating connection due to administrator command' USING ERRCODE = '57P01'; END IF;
      RETURN NEW; END $$`);
    await service.db.query(
      'CREATE TRIGGER fails BEFORE UPDATE ON tasks FOR EACH ROW WHEN (NEW.machine_id IS DISTINCT FROM OLD.machine_id) EXECUTE FUNCTION fails()',
    );
    await begin(id);
    (await model.asked()).answer({ text: 'Done.' });
    expect((await finished(bench.member.client, id)).status).toBe('completed');
    const [tried] = await service.db.query<{ n: string }>('SELECT last_value AS n FROM once');
    expect(Number(tried?.n)).toBeGreaterThan(1);
    await service.db.query('DROP TRIGGER fails ON tasks');
  });

  it('of a version before machines had ids is taken over by the machine that has it', async () => {
    const id = await turn(null, 'echo one > a');
    await service.db.query('DELETE FROM snapshots WHERE task_id = $1', [id]);
    await move(id, null);
    await service.app.get(TaskFolders, { strict: false }).onApplicationBootstrap();
    expect(await placed(id)).toEqual({ machine_id: here(), folder_ahead: true });
    await turn(id, 'cat a');
    expect([await shown(id), await placed(id)]).toEqual(['one', { machine_id: here(), folder_ahead: false }]);
  });

  it('a run whose workdir is gone takes no snapshot of what lay beside it, and the next one has the folder again', async () => {
    const id = await turn(null, 'echo one > a; echo two > /tmp/b');
    await begin(id);
    const asked = await model.asked();
    rmSync((await foldersOf(service, id))['workdir'] ?? '', { recursive: true });
    asked.answer({ text: 'Done.' });
    await finished(bench.member.client, id);
    expect(await turns(id)).toEqual([1]);
    await turn(id, 'cat a /tmp/b > c');
    expect((await bench.member.client.get(`/v1/tasks/${id}/workdir/content?path=c`)).text).toBe('one\ntwo\n');
  });

  it('has a snapshot again when the last manifest is gone', async () => {
    const id = await turn(null, 'echo one > a');
    const [row] = await service.db.query<{ manifest: string }>('SELECT manifest FROM snapshots WHERE task_id = $1', [
      id,
    ]);
    const storage = service.app.get(LocalStorage, { strict: false });
    rmSync(storage.pathOf(snapshotsPlace(bench.member.workspace.id), row?.manifest ?? ''));
    await turn(id, 'echo two > a');
    expect([await turns(id), await shown(id)]).toEqual([[1, 2], 'two']);
  });
});
