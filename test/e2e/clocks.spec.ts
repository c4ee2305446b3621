import { RunClaims } from '../../src/work/runs/run-claims.js';
import { InteractionsService } from '../../src/resources/tasks/interactions/interactions.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { call, createTask, finished, reaches, readTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

const HOUR_MS = 3_600_000;
const LEASE_SECONDS = 12;
const TTL_SECONDS = 600;

/** Lets this process and the service in it live an hour away from the database, which lives in another. */
function moveClock(ms: number): () => void {
  const Real = Date;
  const now = () => Real.now() + ms;
  globalThis.Date = new Proxy(Real, {
    construct: (_, given: [] | [number]) => (given.length === 0 ? new Real(now()) : new Real(...given)),
    get: (_, key) => (key === 'now' ? now : (Reflect.get(Real, key) as unknown)),
  });
  return () => (globalThis.Date = Real);
}

describe.each([
  ['an hour ahead of', HOUR_MS],
  ['an hour behind', -HOUR_MS],
])('The clock of a process may be %s the clock of the database, which alone counts (reference §5):', (_, ms) => {
  let restore: () => void;
  let model: ModelServer;
  let member: Member;

  const service = useService(async () => {
    restore = moveClock(ms);
    model = await ModelServer.start();
    const variables = { LEASE_SECONDS: String(LEASE_SECONDS), INTERACTION_TTL_SECONDS: String(TTL_SECONDS) };
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url, ...variables } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(async () => {
    await model.stop();
    restore();
  });

  const run = async (id: string) => {
    const [row] = await service.db.query<{ epoch: number; until: string; seconds: number }>(
      `SELECT epoch, lease_until::text AS until, extract(epoch FROM lease_until - clock_timestamp())::float8 AS seconds
       FROM runs WHERE task_id = $1`,
      [id],
    );
    if (row === undefined) throw new Error('The task has no run.');
    return row;
  };
  const recover = () => service.app.get(RunClaims, { strict: false }).recoverExpired();
  const expire = () => service.app.get(InteractionsService, { strict: false }).expire();

  slowIt(
    'a lease is as long as it should be when it is claimed and when it is renewed, and a live run is not recovered',
    async () => {
      const { id } = await createTask(member.client, { content: script({ hang: true }) });
      await reaches(member.client, id, 'running');
      const claimed = await run(id);
      await until('the lease to be renewed', async () => (await run(id)).until !== claimed.until);
      for (const { seconds } of [claimed, await run(id)]) {
        expect(seconds).toBeGreaterThan(LEASE_SECONDS - 5);
        expect(seconds).toBeLessThanOrEqual(LEASE_SECONDS);
      }
      await recover();
      expect(await run(id)).toMatchObject({ epoch: 1 });
      expect(await readTask(member.client, id)).toMatchObject({ status: 'running', statusReason: null });
    },
  );

  it('a run whose lease has run out is recovered', async () => {
    const { id } = await createTask(member.client, { content: script({ hang: true }) });
    await reaches(member.client, id, 'running');
    // A heartbeat may come between the two.
    await until('it to be recovered', async () => {
      await service.db.query('UPDATE runs SET lease_until = clock_timestamp() WHERE task_id = $1', [id]);
      await recover();
      return (await run(id)).epoch > 1;
    });
  });

  it('a question lives as long as it should, and expires then', async () => {
    const { id } = await createTask(member.client, {
      content: script(call('ask', { question: 'Why?' }), { text: 'Nobody said.' }),
    });
    await reaches(member.client, id, 'awaiting_input');
    const [question] = await service.db.query<{ seconds: number }>(
      'SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 AS seconds FROM interactions WHERE task_id = $1',
      [id],
    );
    expect(question?.seconds).toBeGreaterThan(TTL_SECONDS - 5);
    expect(question?.seconds).toBeLessThanOrEqual(TTL_SECONDS);
    await expire();
    expect((await readTask(member.client, id)).status).toBe('awaiting_input');
    await service.db.query('UPDATE interactions SET expires_at = clock_timestamp() WHERE task_id = $1', [id]);
    await expire();
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Nobody said.' } });
  });
});
