import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';

const SERVICE = fileURLToPath(new URL('../harness/job-service.mjs', import.meta.url));

describe('A job of a worker process (reference §5)', () => {
  const folder = temporaryFolder();
  const workers: ServiceProcess[] = [];
  let db: TestDatabase;

  const start = async (): Promise<ServiceProcess> => {
    const env = {
      DATABASE_URL: db.url,
      DATA_DIR: folder.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      ROLE: 'worker',
    };
    const worker = await ServiceProcess.spawn(env, SERVICE);
    workers.push(worker);
    await worker.ready();
    return worker;
  };
  /** As a process that has been killed right after its commit: no signal tells of it. */
  const add = async (name: string): Promise<string> => {
    const path = join(folder.path, name);
    const insert = `INSERT INTO jobs (id, queue, data) VALUES (gen_random_uuid(), 'files', jsonb_build_object('path', $1::text))`;
    await db.query(insert, [path]);
    return path;
  };
  const jobs = () => db.query<{ attempts: number; epoch: number }>('SELECT attempts, epoch FROM jobs');
  const says = (worker: ServiceProcess, text: string) => until(`'${text}'`, () => worker.log.includes(text) || null);

  beforeAll(async () => {
    db = await createDatabase();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.end('SIGKILL')));
    await db.query('DELETE FROM jobs');
  });
  afterAll(async () => {
    await db.drop();
    folder.remove();
  });

  it('that is killed with kill -9 in the middle of it is begun again by another, and done once', async () => {
    const first = await start();
    const path = await add('killed');
    await says(first, 'begun: attempt 1');
    const second = await start();
    await first.end('SIGKILL');
    await says(second, 'begun: attempt 2');
    writeFileSync(`${path}-2`, '');
    await until('the job to be gone', async () => (await jobs()).length === 0);
    await says(second, 'is taken from a worker that has not renewed its lease');
    expect(second.log.match(/begun/g)).toHaveLength(1);
  });

  it('that stood still ends it when it wakes up, and changes nothing of what another does with it', async () => {
    const first = await start();
    const path = await add('frozen');
    await says(first, 'begun: attempt 1');
    first.child.kill('SIGSTOP');
    const second = await start();
    await says(second, 'begun: attempt 2');
    first.child.kill('SIGCONT');
    await says(first, 'ended: attempt 1, LeaseLostError');
    expect(await first.end()).toBe(0);
    expect(await jobs()).toEqual([{ attempts: 2, epoch: 3 }]);
    expect(second.log).not.toContain('ended: attempt 2');
    writeFileSync(`${path}-2`, '');
    await until('the job to be gone', async () => (await jobs()).length === 0);
  });

  it('that is told to stop hands it back: another begins it at once, and it is no attempt', async () => {
    const first = await start();
    const path = await add('stopped');
    await says(first, 'begun: attempt 1');
    const second = await start();
    expect(await first.end()).toBe(0);
    await says(second, 'begun: attempt');
    writeFileSync(`${path}-1`, '');
    await until('the job to be gone', async () => (await jobs()).length === 0);
    expect(second.log).not.toContain('is taken from a worker');
  });
});
