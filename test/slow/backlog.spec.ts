import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { runTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const WAITING = 3_000;

// Counted, not timed. PostgreSQL keeps the plans of the statements that look and claim from a time when nothing waited.
describe('Work that waits costs nothing to the work that runs', () => {
  let member: Member;

  const service = useService(() => bootWorker({ config: { plans: { free: { runningTasks: 1 } } } }));
  beforeAll(async () => {
    member = await makeMember(service);
  });

  /** Runs that were read by way of the indexes of those that wait or run, and how many were written. */
  const counts = async () => {
    const [row] = await service.db.query<{ read: number; written: number }>(
      `SELECT sum(i.idx_tup_read)::int AS read, min(t.n_tup_upd)::int AS written
       FROM pg_stat_user_indexes i JOIN pg_stat_user_tables t USING (relid)
       WHERE indexrelname IN ('runs_waiting', 'runs_running')`,
    );
    return row ?? { read: 0, written: 0 };
  };

  const some = async (count: number) => {
    for (let n = 0; n < count; n++) await runTask(member.client, 'Say something.');
  };

  /** Makes tasks of a workspace of plan `free`, one after the other with these statuses. */
  const fill = async (id: string, statuses: string[]) => {
    const other = await makeMember(service, { plan: 'free' });
    await service.db.query(
      `WITH copies AS (
        INSERT INTO tasks SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'workspace_id', $2::uuid,
          'created_by', $3::uuid, 'status', wanted))).*
        FROM tasks t, unnest($4::text[]) wanted WHERE t.id = $1 RETURNING id, status)
       INSERT INTO runs (id, task_id, workspace_id, kind, status, lease_until)
       SELECT gen_random_uuid(), id, $2::uuid, 'turn', CASE status WHEN 'completed' THEN 'finished' ELSE status END,
         CASE status WHEN 'running' THEN now() + interval '1 hour' END
       FROM copies`,
      [id, other.workspace.id, other.user.id, statuses],
    );
  };

  it(`a worker finds what it may run among ${WAITING} that wait without reading those`, async () => {
    const { id } = await runTask(member.client, 'Be a pattern.');
    await fill(id, Array<string>(2 * WAITING).fill('completed'));
    await service.db.query('ANALYZE runs');
    await some(8);
    await fill(id, ['running', ...Array<string>(WAITING).fill('queued')]);
    await some(10);
    // Each back end reports what it has done a moment later, an idle one after ten seconds. Of 19 runs each is claimed and ended.
    const known = async () => (await counts()).written >= 38;
    await until('what was read to be known', known, { within: 150_000 });
    // A plan that is made anew may read it once; the kept ones of a former design read it at every look, 26 times here.
    expect((await counts()).read).toBeLessThan(5 * WAITING);
  });
});
