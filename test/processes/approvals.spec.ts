import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerApproval, type Approval, approvalOf } from '../harness/approvals.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { createTask, finished, readResults, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const block = (text: string) => `\`\`\`sh\n${text}\n\`\`\``;

describe('An approval when the worker dies (reference §5)', () => {
  const folder = temporaryFolder();
  let db: TestDatabase;
  let member: Member;
  const workers: ServiceProcess[] = [];

  afterAll(() => Promise.all(workers.map((worker) => worker.end())), 60_000);
  const api = useService(async () => {
    // The sandbox's users pass through it.
    chmodSync(folder.path, 0o711);
    db = await createDatabase();
    return bootApp({ db, env: { DATA_DIR: folder.path } });
  });
  beforeAll(async () => {
    member = await makeMember(api);
  });
  afterAll(async () => {
    await db.drop();
    folder.remove();
  });

  const startWorker = async () => {
    const worker = await ServiceProcess.start({
      ROLE: 'worker',
      DATABASE_URL: db.url,
      DATA_DIR: folder.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      LOG_LEVEL: 'warn',
    });
    workers.push(worker);
    return worker;
  };
  const asked = async (content: string) => {
    const { id } = await createTask(member.client, { content, approvals: 'writes' });
    return { id, approval: await approvalOf(member.client, id) };
  };
  const approve = async (id: string, approval: Approval) =>
    expect((await answerApproval(member.client, id, approval, { decision: 'approve' })).status).toBe(202);
  /** What the host finds in a file of the workdir. */
  const written = (id: string, name: string) => {
    try {
      return readFileSync(join(folder.path, 'workdirs', id, name), 'utf8');
    } catch {
      return null;
    }
  };
  const approvalsOf = (id: string) => db.query('SELECT status FROM interactions WHERE task_id = $1', [id]);

  it('killed while the task waits, and approved while nobody works: the call is carried out, once', async () => {
    const first = await startWorker();
    const { id, approval } = await asked(block('echo ran >> log; cat log'));
    await first.end('SIGKILL');
    expect(await approvalOf(member.client, id)).toEqual(approval);
    await approve(id, approval);
    expect(await readTask(member.client, id)).toMatchObject({ status: 'queued', pendingInteraction: null });
    const second = await startWorker();
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed' });
    expect(await readResults(member.client, id)).toMatchObject([{ status: 'success', output: { stdout: 'ran\n' } }]);
    expect(await approvalsOf(id)).toEqual([{ status: 'answered' }]);
    await second.end();
  });

  it('killed after the claim, before the approved call began: the next worker carries it out', async () => {
    const first = await startWorker();
    const { id, approval } = await asked(block('echo ran >> log; cat log'));
    await first.end('SIGKILL');
    await approve(id, approval);
    // As a worker leaves it that died between its claim and the beginning of the call.
    await db.query(`UPDATE tasks SET status = 'running' WHERE id = $1`, [id]);
    const claim = `UPDATE runs SET status = 'running', epoch = 1, claimed_at = now(), lease_until = now()
      WHERE task_id = $1 AND status = 'queued' RETURNING id`;
    expect(await db.query(claim, [id])).toHaveLength(1);
    const second = await startWorker();
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed' });
    expect(await readResults(member.client, id)).toMatchObject([{ status: 'success', output: { stdout: 'ran\n' } }]);
    await second.end();
  });

  it('killed while the approved command runs: it is an error, not run again and not asked about again', async () => {
    const first = await startWorker();
    const { id, approval } = await asked(`${block('echo ran >> log; sleep 600')}\n\n${block('echo never')}`);
    await approve(id, approval);
    // Not its process: the launcher of the sandbox has the same words in its command line, before the shell has run any.
    await until('the command to run', () => written(id, 'log') === 'ran\n');
    await first.end('SIGKILL');
    // Nobody waits for its lease to run out.
    const lapse = `UPDATE runs SET lease_until = now() WHERE task_id = $1 AND status = 'running' RETURNING id`;
    expect(await db.query(lapse, [id])).toHaveLength(1);
    const second = await startWorker();
    expect(await finished(member.client, id)).toMatchObject({
      status: 'failed',
      statusReason: { code: 'runbook_block_failed', message: expect.stringContaining('may have run partly') },
    });
    expect(await readResults(member.client, id)).toMatchObject([{ status: 'error' }]);
    expect(await approvalsOf(id)).toEqual([{ status: 'answered' }]);
    // What it did before it died was done once.
    await member.client.post(`/v1/tasks/${id}/messages`, { content: block('cat log') });
    await approve(id, await approvalOf(member.client, id));
    await finished(member.client, id);
    expect((await readResults(member.client, id)).at(-1)).toMatchObject({ output: { stdout: 'ran\n' } });
    await second.end();
  });
});
