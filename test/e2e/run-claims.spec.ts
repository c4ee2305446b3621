import { Env } from '../../src/platform/config/env.js';
import { newId } from '../../src/platform/database/ids.js';
import { Database } from '../../src/platform/database/database.js';
import type { Machine } from '../../src/work/machines/machine.js';
import type { ClaimedRun } from '../../src/work/runs/claimed-run.js';
import { RunClaims } from '../../src/work/runs/run-claims.js';
import { Notices } from '../../src/platform/notices/notices.js';
import { bootApp, type TestApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { mostRunning, recordRunning } from '../harness/running.js';
import { createTask } from '../harness/tasks.js';

const MACHINE = { id: newId() } as Machine;

describe('A run that is no longer held (reference §5)', () => {
  let member: Member;
  /** Of a worker that does nothing by itself. */
  let claims: RunClaims;

  const api = useService();
  beforeAll(async () => {
    member = await makeMember(api);
    claims = new RunClaims(api.app.get(Database), api.app.get(Notices), MACHINE, api.app.get(Env));
  });

  const claim = async (): Promise<ClaimedRun> => {
    const { id } = await createTask(member.client, { content: 'Hello' });
    const [queued] = await api.db.query<{ id: string }>('SELECT id FROM runs WHERE task_id = $1', [id]);
    const run = await claims.claim(queued?.id ?? '');
    if (run === null) throw new Error('The run was not to be had.');
    return run;
  };
  const rows = async ({ runId, taskId }: ClaimedRun) => [
    await api.db.query('SELECT * FROM runs WHERE id = $1', [runId]),
    await api.db.query('SELECT * FROM tasks WHERE id = $1', [taskId]),
  ];

  const LOST: [string, string][] = [
    ['another worker has', 'UPDATE runs SET epoch = epoch + 1 WHERE id = $1'],
    ['is over', `UPDATE runs SET status = 'finished', lease_until = NULL, finished_at = now() WHERE id = $1`],
  ];
  const WRITES: [string, (run: ClaimedRun) => Promise<unknown>, unknown][] = [
    ['renewed', (run) => claims.renew([run]), new Map()],
    ['handed back', (run) => claims.handBack(run), undefined],
    ['let go', (run) => claims.endLease(run), undefined],
  ];

  describe.each(LOST)('and that %s', (_, sql) => {
    it.each(WRITES)('is not %s', async (_write, write, answer) => {
      const run = await claim();
      await api.db.query(sql, [run.runId]);
      const before = await rows(run);
      expect(await write(run)).toEqual(answer);
      expect(await rows(run)).toEqual(before);
    });
  });

  it.each(WRITES)('while it is held, it is %s', async (_, write) => {
    const run = await claim();
    const before = await rows(run);
    await write(run);
    expect(await rows(run)).not.toEqual(before);
  });
});

describe('A kept place (docs/decisions/0029)', () => {
  const api = useService();
  // Another worker, with connections of its own.
  let other: TestApp;
  const claimsOf = ({ app }: TestApp) => new RunClaims(app.get(Database), app.get(Notices), MACHINE, app.get(Env));
  const count = 12;

  beforeAll(async () => {
    await recordRunning(api.db);
    other = await bootApp({ db: api.db });
  });
  afterAll(() => other.close());

  const queue = async (member: Member) => {
    for (let n = 0; n < count; n++) await createTask(member.client, { content: 'Hello' });
    return api.db.query<{ id: string }>('SELECT id FROM runs WHERE workspace_id = $1', [member.workspace.id]);
  };

  it('is given to one run of a workspace, when all of its runs are claimed by two workers at the same moment', async () => {
    const member = await makeMember(api);
    const runs = await queue(member);
    const workers = [claimsOf(api), claimsOf(other)];
    const claimed = await Promise.all(runs.flatMap(({ id }) => workers.map((claims) => claims.claim(id, 'first'))));
    expect(claimed.filter((run) => run !== null)).toHaveLength(1);
    expect(await mostRunning(api.db, member.workspace.id)).toBe(1);
  });

  it('is refused to a workspace whose runs get places of the other kind at the same moment', async () => {
    const member = await makeMember(api);
    const runs = await queue(member);
    const [open, kept] = [claimsOf(api), claimsOf(other)];
    const claims = runs.map(({ id }, n) => (n % 2 === 0 ? open.claim(id) : kept.claim(id, 'first')));
    const claimed = await Promise.all(claims);
    expect(claimed.filter((run, n) => run !== null && n % 2 === 0)).toHaveLength(count / 2);
    expect(claimed.filter((run, n) => run !== null && n % 2 === 1).length).toBeLessThanOrEqual(1);
  });

  it('is had by two workspaces at the same moment', async () => {
    const runs = [
      ...(await queue(await makeMember(api))).slice(0, 1),
      ...(await queue(await makeMember(api))).slice(0, 1),
    ];
    const claims = claimsOf(api);
    const claimed = await Promise.all(runs.map(({ id }) => claims.claim(id, 'first')));
    expect(claimed).not.toContain(null);
  });
});
