import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { World } from '../faults/world.js';
import { Client } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { FakeModel } from '../harness/engines/fake-model.js';
import { engineOf, shell } from '../harness/engines/worker.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { newMark, processesGone } from '../harness/processes.js';
import { createTask, readMessages, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const KILLS = LONG ? 100 : 2;
/** Behind every fourth kill a worker is told to stop, too. */
const SIGNALS = Array.from({ length: KILLS }, (_, n): NodeJS.Signals[] =>
  n % 4 === 0 ? ['SIGKILL', 'SIGTERM'] : ['SIGKILL'],
).flat();
const WORKERS = LONG ? 3 : 2;
/** On a machine that is busy a shorter one runs out by itself, and an engine that is cut off by that is none that a kill has ended. */
const LEASE_SECONDS = 8;
/** Tasks that are open at a time. */
const AT_ONCE = WORKERS * 2;
/** Of one task. */
const STEPS = LONG ? 12 : 6;
/** Milliseconds after a step at which a worker ends, at the most: about three steps. */
const AFTER = 1_500;
const INTERRUPTED = /^This was interrupted/;

describe(`Workers that are killed while programs drive their tasks: seed ${SEED} (reference §30)`, () => {
  const mark = newMark();
  // One tells nothing of its calls but to its model.
  const engines = { silent: engineOf({ SILENT: '1', MARK: mark }), telling: engineOf({ MARK: mark }) };
  const kinds = Object.keys(engines);
  let [model, db, world] = [] as unknown as [FakeModel, TestDatabase, World];
  beforeAll(async () => {
    [model, db] = await Promise.all([FakeModel.start(), createDatabase()]);
    const models = kinds.map((id) => ({ id, engine: id, provider: 'openai-compatible', baseUrl: model.url }));
    const about = { workers: WORKERS, leaseSeconds: LEASE_SECONDS, engines: { engines, models } };
    world = await World.start({ databaseUrl: db.url, ...about });
  }, 300_000);
  afterAll(async () => {
    await world.close();
    await model.stop();
    await db.drop();
  });

  const client = () => new Client(world.api.url, world.secret);
  const figure = async (sql: string) => (await db.query<{ n: number }>(sql))[0]?.n ?? 0;
  const openTasks = () => figure('SELECT count(*)::int AS n FROM tasks WHERE finished_at IS NULL');
  /** Throws, with the workers' log, as soon as a task has ended other than completed: the test would wait for its next step until the time is over. */
  const noneFailed = async () => {
    const bad = await db.query(
      `SELECT id, status, status_reason FROM tasks WHERE finished_at IS NOT NULL AND status <> 'completed'`,
    );
    if (bad.length > 0) throw new Error(`${JSON.stringify(bad)}\n${world.log}`);
    return true;
  };
  const allSteps = () => figure('SELECT coalesce(sum(steps), 0)::int AS n FROM tasks');

  it(
    `have each call carried out once at most, and on record, through ${KILLS} kills`,
    async () => {
      // Each call is another one, so that a line in the file says by which it was written.
      model.script = ({ messages }) => {
        const done = messages.filter(({ role, calls }) => role === 'assistant' && calls.length > 0).length;
        if (done >= STEPS) return { text: 'Done.' };
        return { calls: [shell(`sleep 0.3; echo ${randomUUID()} >> log`), shell('tail -n 1 log')] };
      };
      const random = numbers(SEED);
      const began = Date.now();
      const all: string[] = [];
      for (const signal of SIGNALS) {
        for (let open = await openTasks(); open < AT_ONCE; open++) {
          const kind = kinds[all.length % kinds.length];
          all.push((await createTask(client(), { title: 'Lines', content: 'Begin.', model: kind })).id);
        }
        const before = await allSteps();
        await until('a step', async () => (await noneFailed()) && (await allSteps()) > before, { within: 300_000 });
        await pause(random() * AFTER);
        // One goes on: on a slow machine nothing would ever be done otherwise.
        const up = () => world.workers.flatMap((worker, place) => (world.isUp(worker) ? [place] : []));
        await until('two workers to be up', () => up().length > 1, { within: 300_000 });
        const place = up()[Math.floor(random() * up().length)] ?? 0;
        await world.workers[place]?.end(signal);
        await world.startWorker(place);
      }
      await until('the tasks to end', async () => (await openTasks()) === 0, { within: 600_000 });
      const sums = { calls: 0, interrupted: 0, lines: 0 };
      for (const id of all) {
        const found = await carriedOut(id);
        for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += found[name];
      }
      const takenOver = await figure('SELECT count(*)::int AS n FROM runs WHERE epoch > 1');
      const figures = Object.entries({ stops: SIGNALS.length - KILLS, tasks: all.length, takenOver, ...sums });
      const words = [...figures, ['seed', SEED], ['seconds', Math.round((Date.now() - began) / 1000)]];
      process.stderr.write(`engines: kills ${KILLS}, ${words.map((pair) => pair.join(' ')).join(', ')}\n`);
      // Else nothing was proved.
      expect(takenOver).toBeGreaterThan(0);
    },
    LONG ? 7_200_000 : 600_000,
  );

  /** Fails unless all calls of a task that is over are on record, and each was carried out once, or at most once when it was interrupted. */
  async function carriedOut(id: string) {
    const task = await readTask(client(), id);
    if (task.status !== 'completed') process.stderr.write(`${world.log}\n`);
    expect(task).toMatchObject({ status: 'completed', statusReason: null, result: { text: 'Done.' } });
    const messages = await readMessages(client(), id, '?limit=100');
    expect(messages.filter(({ status }) => status !== 'complete')).toEqual([]);
    const parts = messages.flatMap((message) => message.parts);
    const calls = parts.filter(({ type }) => type === 'tool_call');
    const results = parts.filter(({ type }) => type === 'tool_result');
    expect(results).toHaveLength(calls.length);
    const failed = results.filter(({ status }) => status !== 'success');
    for (const { error } of failed) expect(error).toMatch(INTERRUPTED);
    // The file itself: the last `tail` may have been interrupted.
    const { status, text } = await client().get(`/v1/tasks/${id}/workdir/content?path=log`);
    expect(status).toBe(200);
    const lines = text.trim().split('\n');
    expect(new Set(lines).size).toBe(lines.length);
    const asked = calls.map(({ input }) => (input as { command: string }).command);
    for (const line of lines) expect(asked.filter((command) => command.includes(line))).toHaveLength(1);
    const written = asked.filter((command, n) => command.includes('>> log') && results[n]?.status === 'success');
    for (const command of written) expect(lines.filter((line) => command.includes(line))).toHaveLength(1);
    return { calls: calls.length, interrupted: failed.length, lines: lines.length };
  }

  it('leave no program behind', async () => {
    await Promise.all(world.workers.map((worker) => worker.end('SIGKILL')));
    await processesGone(mark, 60_000);
  }, 120_000);
});
