// Many automations that are due in one second, and two workers. The figures are printed: how late is late depends on the machine.
import { bootApp, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { until } from '../harness/until.js';
import { DUE_IN } from '../../src/work/occurrences/occurrences.sql.js';
import { Workers } from './workers.js';

const LONG = process.env['MILLWRIGHT_LONG'] !== undefined;
const COUNT = LONG ? 300 : 100;

describe('automations that are due in the same second', () => {
  let db: TestDatabase;
  let workers: Workers | undefined;
  const service = useService(async () => bootApp({ db: (db = await createDatabase()) }));
  beforeAll(async () => {
    workers = await Workers.start(db, 2);
    // When a run can be seen, to the millisecond: the trigger fires at the commit.
    await db.query(`
      CREATE TABLE seen (run_id uuid, scheduled_at timestamptz, at timestamptz);
      CREATE FUNCTION note_run() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO seen VALUES (NEW.id, NEW.scheduled_at, clock_timestamp()); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER note_run AFTER INSERT ON automation_runs DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION note_run()`);
  });
  afterAll(() => workers?.close());

  it(`${COUNT} of them on two workers fire once each`, async () => {
    const owner = await makeMember(service);
    await db.query(
      `INSERT INTO automations (id, workspace_id, owner_id, name, kind, status, content, cron, timezone, overlap, next_run_at)
       SELECT gen_random_uuid(), $1, $2, 'A', 'recurring', 'active', 'Nothing to do.', '0 0 1 1 *', 'UTC', 'skip', now() + interval '3 seconds'
       FROM generate_series(1, $3)`,
      [owner.workspace.id, owner.user.id, COUNT],
    );
    await until('all to have fired', async () => (await db.query('SELECT 1 FROM seen')).length >= COUNT, {
      within: 150_000,
    });
    const late = await db.query<{ ms: number }>(
      `SELECT extract(epoch FROM at - scheduled_at)::float8 * 1000 AS ms FROM seen ORDER BY 1`,
    );
    const at = (share: number) => Math.round(late[Math.ceil(late.length * share) - 1]?.ms ?? 0);
    process.stdout.write(`${COUNT} at once, 2 workers: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, last ${at(1)} ms late\n`);
    const [counted] = await db.query<{ runs: number; tasks: number; twice: number }>(
      `SELECT (SELECT count(*)::int FROM automation_runs WHERE status = 'started') AS runs,
         (SELECT count(DISTINCT automation_run_id)::int FROM tasks) AS tasks,
         (SELECT count(*)::int FROM (SELECT 1 FROM automation_runs GROUP BY automation_id HAVING count(*) > 1) t) AS twice`,
    );
    expect(counted).toEqual({ runs: COUNT, tasks: COUNT, twice: 0 });
  });
});

describe('ten thousand automations that are due another day', () => {
  const service = useService(bootApp);

  it('cost a look the pages of one entry of an index', async () => {
    const owner = await makeMember(service);
    await service.db.query(
      `INSERT INTO automations (id, workspace_id, owner_id, name, kind, status, content, cron, timezone, overlap, next_run_at)
       SELECT gen_random_uuid(), $1, $2, 'A', 'recurring', 'active', 'x', '0 0 1 1 *', 'UTC', 'skip', now() + make_interval(secs => 3600 + n)
       FROM generate_series(1, 10000) n`,
      [owner.workspace.id, owner.user.id],
    );
    await service.db.query('ANALYZE automations');
    const [plan] = await service.db.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${DUE_IN().text}`,
    );
    const { 'Shared Hit Blocks': hit = 0, 'Shared Read Blocks': read = 0 } = plan?.['QUERY PLAN'][0].Plan ?? {};
    expect(hit + read).toBeLessThanOrEqual(6);
  });
});
