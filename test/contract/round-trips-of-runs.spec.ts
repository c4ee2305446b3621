import { ChoreRunner } from '../../src/platform/chores/chore-runner.js';
import { createAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { countRoundTrips, OF_RUNS, type RoundTrips } from '../harness/round-trips.js';
import { runTask } from '../harness/tasks.js';

// Counted, not timed, as those of requests: a number that grows here is paid for by each step of each task.
describe('Round trips of a worker to the database', () => {
  let db: TestDatabase;
  let trips: RoundTrips;
  let member: Member;

  const service = useService(async () => {
    db = await createDatabase();
    trips = await countRoundTrips(db.url, OF_RUNS);
    const booted = await bootWorker({ db: { ...db, url: trips.url } });
    const chores = booted.app.get(ChoreRunner);
    chores.onModuleDestroy();
    await chores.beforeApplicationShutdown();
    return booted;
  });
  beforeAll(async () => {
    member = await makeMember(service);
    // What a worker learns once, at its first task.
    await runTask(member.client, 'Nothing to do.');
  });
  afterAll(async () => {
    await trips.close();
    await db.drop();
  });

  const STEP = '```bash\ntrue\n```';
  // The fewer of two: a worker that a busy machine holds up looks for work once more, and that look is no part of the task.
  const once = (content: string, more: object) =>
    trips.during(() => runTask(member.client, content, { model: 'runbook', ...more }));
  const of = async (content: string, more: object = {}) =>
    Math.min(await once(content, more), await once(content, more));

  it('a task without checks has as many as before there were checks: 4, and 5 for its first command, and 2 for each other one', async () => {
    expect(await of('Nothing to do.')).toBe(4);
    expect(await of(STEP)).toBe(9);
    expect(await of(`${STEP}\n\n${STEP.replace('true', 'pwd')}`)).toBe(11);
    expect(await of(STEP, { checks: [] })).toBe(9);
  });

  it('a task with an agent has as many: what that is told comes with the task', async () => {
    await createAgent(member.client, { instructions: 'Be brief.', tools: { deny: ['write'] } });
    expect(await of(STEP, { agent: 'reviewer' })).toBe(9);
  });

  it('a check has its own', async () => {
    expect(await of(STEP, { checks: [{ name: 'one', command: 'true' }] })).toBeGreaterThan(9);
  });
});
