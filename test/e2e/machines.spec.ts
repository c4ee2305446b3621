import { machinesCheck } from '../../src/operator/doctor/machines.check.js';
import { Env } from '../../src/platform/config/env.js';
import { Database } from '../../src/platform/database/database.js';
import { newId } from '../../src/platform/database/ids.js';
import { Notices } from '../../src/platform/notices/notices.js';
import type { Machine } from '../../src/work/machines/machine.js';
import { RunClaims } from '../../src/work/runs/run-claims.js';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { findings } from '../harness/doctor.js';
import { Operator } from '../harness/operator.js';
import { createTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface Shown {
  id: string;
  status: string;
  running: number;
  places: number;
}

describe('Machines (reference §23)', () => {
  const api = useService();
  let member: Member;
  const [here, there] = [newId(), newId()];
  const claims = new Map<string, RunClaims>();
  beforeAll(async () => {
    member = await makeMember(api);
    const get = <T>(what: new (...args: never[]) => T) => api.app.get<T>(what);
    for (const id of [here, there]) {
      claims.set(id, new RunClaims(get(Database), get(Notices), { id } as Machine, get(Env)));
    }
  });
  beforeEach(() => api.db.query('DELETE FROM workers'));

  const works = (machineId: string, more: { seen?: string; draining?: boolean } = {}) =>
    api.db.query(
      `INSERT INTO workers (id, machine_id, host, places, version, draining, seen_at) VALUES ($1, $2, 'mill', 4, '1', $3, now() - $4::interval)`,
      [newId(), machineId, more.draining ?? false, more.seen ?? '0 s'],
    );
  /** A run that waits, of a task whose folder a machine has. */
  const waiting = async (machineId: string | null) => {
    const { id: taskId } = await createTask(member.client, { content: 'Hello' });
    await api.db.query('UPDATE tasks SET machine_id = $2 WHERE id = $1', [taskId, machineId]);
    await api.db.query('UPDATE runs SET created_at = clock_timestamp() WHERE task_id = $1', [taskId]);
    const [run] = await api.db.query<{ id: string }>('SELECT id FROM runs WHERE task_id = $1', [taskId]);
    return { taskId, runId: run?.id ?? '' };
  };
  const claim = (machineId: string, { runId }: { runId: string }) => claims.get(machineId)?.claim(runId);
  const queued = async (machineId: string) => (await claims.get(machineId)?.queued(50, 50, []))?.map(({ id }) => id);
  const folderOf = async ({ taskId }: { taskId: string }) =>
    (await api.db.query<{ machine_id: string }>('SELECT machine_id FROM tasks WHERE id = $1', [taskId]))[0]?.machine_id;

  it('the first one that claims a run of a task has its folder from then on', async () => {
    await works(there);
    const run = await waiting(null);
    expect(await queued(here)).toContain(run.runId);
    expect(await claim(here, run)).toMatchObject({ folderAt: null });
    expect(await folderOf(run)).toBe(here);
  });

  it('a run is left to the machine that has the folder, and after 2 seconds to any', async () => {
    await works(there);
    const [its, late] = [await waiting(there), await waiting(there)];
    expect(await claim(here, its)).toBeNull();
    expect(await queued(here)).not.toContain(its.runId);
    expect(await queued(there)).toContain(its.runId);
    expect(await claim(there, its)).toMatchObject({ folderAt: there });
    const began = Date.now();
    const run = await until('the run to be for any', () => claim(here, late), { within: 10_000 });
    expect(Date.now() - began).toBeGreaterThan(1_000);
    expect(run).toMatchObject({ folderAt: there });
    // It has the folder when it has restored it, not before.
    expect(await folderOf(late)).toBe(there);
  });

  it('runs that are left to a machine keep back none of their workspace behind them', async () => {
    await works(there);
    const its = [];
    for (let n = 0; n < 3; n++) its.push(await waiting(there));
    const free = await waiting(null);
    const found = await claims.get(here)?.queued(1, 1, []);
    expect(found?.map(({ id }) => id)).toEqual([free.runId]);
    expect(its.map(({ runId }) => runId)).toContain((await claims.get(there)?.queued(1, 1, []))?.[0]?.id);
  });

  it.each([
    ['is gone', { seen: '20 s' }],
    ['drains', { draining: true }],
  ])('a run is not left to a machine that %s', async (_, how) => {
    await works(there, how);
    const run = await waiting(there);
    expect(await queued(here)).toContain(run.runId);
    expect(await claim(here, run)).not.toBeNull();
  });

  it('a run that was taken from a worker is left to its machine, which may be back', async () => {
    await works(there);
    const run = await waiting(there);
    await claim(there, run);
    await api.db.query(`UPDATE runs SET created_at = now() - interval '1 hour', lease_until = now() WHERE id = $1`, [
      run.runId,
    ]);
    expect(await claims.get(here)?.recoverExpired()).toEqual([run.runId]);
    expect(await claim(here, run)).toBeNull();
    expect(await claim(there, run)).not.toBeNull();
  });

  it('an operator sees them and drains one, and the log of the installation says so', async () => {
    await works(here);
    await works(here);
    await works(there, { seen: '1 hour' });
    const operator = new Operator(api);
    const { machines } = JSON.parse(await operator.run('machine', 'list', '--json')) as { machines: Shown[] };
    expect(new Map(machines.map((one) => [one.id, one]))).toEqual(
      new Map<string, object>([
        [here, expect.objectContaining({ status: 'working', places: 8, hosts: ['mill'], versions: ['1'] }) as object],
        [there, expect.objectContaining({ status: 'gone', places: 0 }) as object],
      ]),
    );
    await expect(operator.run('machine', 'drain', newId())).rejects.toThrow(/No machine has the id/);
    await expect(operator.run('machine', 'drain', 'mill')).rejects.toThrow(/No machine has the id 'mill'/);
    expect(await operator.run('machine', 'drain', here)).toContain('hears of it within 5 seconds');
    expect(await operator.run('machine', 'drain', there)).toMatch(
      /has said nothing since \d{4}-.*Z, and hears of it when/,
    );
    const [entry] = await api.db.query<object>(
      `SELECT target_id FROM audit_log WHERE action = 'machine.drain' ORDER BY id`,
    );
    expect(entry).toEqual({ target_id: here });
    const run = await waiting(here);
    expect(await claim(there, run)).not.toBeNull();
    const found = await findings([machinesCheck], { env: { DATABASE_URL: api.db.url } });
    expect(found.map(({ status }) => status)).toEqual(['warn', 'warn']);
    const lines = found.map(({ detail }) => detail).join('\n');
    expect(lines).toMatch(/places taken; it drains\./);
    expect(lines).toMatch(/has not said for 60 min that it works\./);
  });
});

describe('A machine of a service that works (reference §23)', () => {
  const service = useService(() => bootWorker({ env: { WORKER_CONCURRENCY: '3' } }));

  it('is shown by /health/ready, and by an api without places', async () => {
    const ready = async (url: string) =>
      ((await (await fetch(`${url}/health/ready`)).json()) as { machines: Shown[] }).machines;
    const [machine] = await until('the machine to be there', async () => {
      const found = await ready(service.url);
      return found.length > 0 && found;
    });
    expect(machine).toEqual({ id: machine?.id, status: 'working', running: 0, places: 3 });
    const api = await bootApp({ db: service.db });
    try {
      expect(await ready(api.url)).toEqual([machine]);
    } finally {
      await api.close();
    }
  });
});
