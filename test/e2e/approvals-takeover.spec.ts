import { RunLeases } from '../../src/work/runs/run-leases.js';
import { ApprovalBench } from '../harness/approvals.js';
import { holding, holdingTask, untilWaiting } from '../harness/locks.js';
import { finished, readResults, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

// The run is recovered (epoch + 1) and claimed by another worker (epoch + 1), which has not come to begin the call.
const TAKE_OVER = `
UPDATE runs SET epoch = epoch + 2, recovery_count = recovery_count + 1, lease_until = now() + interval '600 seconds'
WHERE task_id = $1 AND status = 'running' AND epoch = 1`;

describe('An approved call whose run is taken over (reference §5)', () => {
  let bench: ApprovalBench;
  beforeAll(async () => {
    // A lease that does not run out, nor is renewed, while a test looks.
    bench = await ApprovalBench.start({ LEASE_SECONDS: '600' });
  });
  afterAll(() => bench.close());

  const stage = async (id: string) => {
    const sql = `SELECT v.stage FROM tool_invocations v JOIN messages m ON m.id = v.message_id WHERE m.task_id = $1`;
    return (await bench.service.db.query<{ stage: string | null }>(sql, [id])).map((row) => row.stage);
  };
  const run = (id: string) =>
    bench.service.db.query(
      `SELECT status, epoch, recovery_count FROM runs WHERE task_id = $1 AND kind = 'continuation'`,
      [id],
    );

  it('before it began is not begun by the worker that was frozen, and is carried out once by the next', async () => {
    const { db, app } = bench.service;
    const { id, approval } = await bench.asked('```sh\necho ran >> log; cat log\n```', { model: 'runbook' });
    // Stops the worker between its claim, which reads no files, and the beginning of the call.
    const files = await holding(db, 'LOCK TABLE files');
    await bench.decide(id, approval, { decision: 'approve' });
    await untilWaiting(db, 'approved_tools AS "approvedTools"');
    const task = await holdingTask(db, id);
    await files.release();
    await untilWaiting(db, `SET stage = 'begun'`);
    await task.query(TAKE_OVER, [id]);
    await task.release();
    const held = app.get(RunLeases, { strict: false });
    await until('the frozen worker to let the run go', () => held.size === 0);
    expect(await stage(id)).toEqual(['approved']);
    expect(bench.workdir(id)).toEqual([]);
    expect(await readTask(bench.client, id)).toMatchObject({ status: 'running' });
    expect(await run(id)).toEqual([{ status: 'running', epoch: 3, recovery_count: 1 }]);

    // The other one is lost as well: the call has not begun, so it may be carried out.
    await db.query(`UPDATE runs SET lease_until = now() - interval '1 second' WHERE task_id = $1`, [id]);
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed' });
    expect(await readResults(bench.client, id)).toMatchObject([{ status: 'success', output: { stdout: 'ran\n' } }]);
    expect(await run(id)).toMatchObject([{ status: 'finished', epoch: 5 }]);
  });
});
