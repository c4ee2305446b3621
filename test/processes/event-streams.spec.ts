import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fold, Millwright, type TaskEvent } from '@millwright/sdk';
import { TIMES } from '../../packages/sdk/src/follow.js';
import { Client } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { foldViews } from '../harness/events.js';
import { ModelServer } from '../harness/model-server.js';
import { LONG } from '../harness/numbers.js';
import { freePort } from '../harness/ports.js';
import { relayTo } from '../harness/proxy.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { StreamReader } from '../harness/streams.js';
import { call, createTask, finished, readMessages, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const run = promisify(execFile);
/** A key has 20 streams: two for each of these, and those that were cut a moment ago. */
const TASKS = LONG ? 8 : 4;
/** Of titles, by 24 at once. */
const CHANGES = LONG ? 5_000 : 240;
const times = { ...TIMES };

// Built processes: what happens in one is followed in another. The sentences of the routes are in `task-streams.spec`.
describe('Streams of events over processes (reference §17)', () => {
  let model: ModelServer;
  let db: TestDatabase;
  const folder = temporaryFolder();
  const undo: (() => unknown)[] = [];

  beforeAll(async () => {
    model = await ModelServer.start();
    db = await createDatabase();
  });
  beforeEach(() => Object.assign(TIMES, { leastWait: 5, mostWait: 200 }));
  afterEach(async () => {
    Object.assign(TIMES, times);
    for (const end of undo.splice(0).reverse()) await end();
  });
  afterAll(async () => {
    await model.stop();
    await db.drop();
    folder.remove();
  });

  const start = async (more: Record<string, string>): Promise<ServiceProcess> => {
    const secret = { SECRET_KEY: 'a secret of the tests, at least 32 bytes long' };
    const env = { DATABASE_URL: db.url, ...secret, DATA_DIR: folder.path, OPENAI_COMPATIBLE_URL: model.url, ...more };
    const started = await ServiceProcess.spawn(env);
    undo.push(() => started.end());
    await started.ready();
    return started;
  };
  const newKey = async (): Promise<string> => {
    const words = ['key', 'create', '--workspace', 'default', '--user', 'owner@localhost', '--json'];
    const env = { PATH: process.env['PATH'], DATA_DIR: folder.path, DATABASE_URL: db.url };
    const secret = { SECRET_KEY: 'a secret of the tests, at least 32 bytes long' };
    const { stdout } = await run(process.execPath, [CLI, ...words], { env: { ...env, ...secret } });
    return (JSON.parse(stdout) as { key: { secret: string } }).key.secret;
  };

  const killedAndStopped =
    (installation: () => Promise<Record<string, string>>): (() => Promise<void>) =>
    async () => {
      const env = await installation();
      const api = { ...env, ROLE: 'api', PORT: String(await freePort()) };
      const [first] = await Promise.all([start(api), start({ ...env, ROLE: 'worker' })]);
      const key = await newKey();
      const client = new Client(first.url, key);

      // What is passed on comes from the worker.
      const stalled = await createTask(client, {
        content: script({ text: 'Half of this is said, and no more.', stall: true }),
      });
      const url = `${first.url}/v1/tasks/${stalled.id}/events`;
      const early = await StreamReader.open(`${url}?deltas=true`, key);
      const delta = await early.frame('message.delta');
      expect(delta.data).toMatchObject({ index: 0, offset: 0, part: 'text' });
      await client.post(`/v1/tasks/${stalled.id}/cancel`);
      await early.frame('task.cancelled');
      early.close();

      // An api that is killed in the middle.
      const step = call('bash', { command: 'sleep 0.1' });
      const { id } = await createTask(client, { content: script({ ...step, times: 8 }, { text: 'Done.' }) });
      const events = `${first.url}/v1/tasks/${id}/events?until=final`;
      const cut = await StreamReader.open(events, key);
      await until('some of it', () => cut.events.length >= 8);
      await first.end('SIGKILL');
      await until('the cut', () => cut.ended);
      const second = await start(api);
      const last = cut.frames.findLast(({ id: position }) => position !== undefined)?.id ?? '0';
      const rest = await StreamReader.open(events, key, { 'Last-Event-ID': last });
      expect((await rest.end())?.data).toMatchObject({ type: 'stream.end', reason: 'final' });
      const all = [...cut.events, ...rest.events];
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
      expect(foldViews(all)).toEqual(await readMessages(client, id));

      // An api that is told to stop.
      const held = await createTask(client, { content: script(call('bash', { command: 'sleep 1000' })) });
      const open = await StreamReader.open(`${second.url}/v1/tasks/${held.id}/events`, key);
      const log = await StreamReader.open(`${second.url}/v1/events`, key);
      await Promise.all([open.frame('message.created'), log.frame('stream.caught_up')]);
      const waits = fetch(`${second.url}/v1/tasks/${held.id}/events?after=latest&types=task.completed&wait=30`, {
        headers: { Authorization: `Bearer ${key}` },
      });
      const metrics = async () => (await fetch(`${second.url}/metrics`)).text();
      await until('the request to wait', async () => (await metrics()).includes('millwright_event_streams 3'));
      const code = second.end();
      for (const reader of [open, log]) {
        const end = await reader.end();
        expect(end?.data).toMatchObject({ type: 'stream.end', reason: 'shutdown', position: end?.id });
        const again = reader.retries.at(-1) ?? 0;
        expect([again >= 500, again <= 3000]).toEqual([true, true]);
      }
      const answer = await waits;
      expect([answer.status, await answer.json()]).toMatchObject([200, { events: [] }]);
      expect(await code).toBe(0);
      const third = await start(api);
      await new Client(third.url, key).post(`/v1/tasks/${held.id}/cancel`);
      await finished(new Client(third.url, key), held.id);
    };

  /** Followers whose connections are cut again and again, and some that do not read, while all that moves the tasks moves them at once. */
  const cutAndSlow =
    (installation: () => Promise<Record<string, string>>): (() => Promise<void>) =>
    async () => {
      const env = await installation();
      const [api] = await Promise.all([start({ ...env, ROLE: 'api' }), start({ ...env, ROLE: 'worker' })]);
      const key = await newKey();
      const client = new Client(api.url, key);
      const network = await relayTo(api.url);
      undo.push(() => network.close());
      const todo = call('todo', { items: [{ text: 'Go on.', status: 'in_progress' }] });
      const held = call('bash', { command: 'sleep 0.2' });
      const content = script({ ...held, times: LONG ? 20 : 2 }, { ...todo, times: 2 }, { text: 'Done.' });
      const tasks = await Promise.all(Array.from({ length: TASKS }, () => createTask(client, { content })));
      const ids = tasks.map(({ id }) => id);

      // Each follower has the SDK's way to come back.
      const mw = new Millwright({ apiKey: key, baseUrl: network.url.replace(/\/$/, '') });
      const over = new AbortController();
      const seen = new Map<string, TaskEvent[]>(ids.map((id) => [id, []]));
      const follow = async (id: string) => {
        try {
          for await (const event of mw.tasks.events(id, { signal: over.signal })) seen.get(id)?.push(event);
        } catch (error) {
          if (!over.signal.aborted) throw error;
        }
      };
      const followed = Promise.all(ids.map(follow));
      let failure: unknown = null;
      followed.catch((error: unknown) => (failure = error));
      const slow = await Promise.all(
        ids.map((id) => StreamReader.open(`${api.url}/v1/tasks/${id}/events`, key, {}, false)),
      );
      undo.push(() => slow.forEach((reader) => reader.close()));

      let left = CHANGES;
      let cuts = 0;
      const write = async () => {
        for (let n = left--; n > 0; n = left--) {
          const answer = await client.patch(`/v1/tasks/${ids[n % ids.length]}`, { title: `Change ${n}` });
          expect(answer.status).toBe(200);
        }
      };
      const cut = async (ended: () => boolean) => {
        for (; !ended() || cuts < 5; cuts++) {
          await network.cut();
          await network.mend();
          // Until something has come through again.
          const had = [...seen.values()].flat().length;
          await until('news, or the end', () => [...seen.values()].flat().length > had || ended());
        }
      };
      let written = false;
      const writing = Promise.all(Array.from({ length: 24 }, write)).then(() => (written = true));
      await Promise.all([writing, cut(() => written)]);
      await Promise.all(ids.map((id) => finished(client, id)));
      const lasts = await db.query<{ id: string; last: number }>('SELECT id, last_event AS last FROM tasks WHERE id = ANY($1)', [ids]);
      slow.forEach((reader) => reader.resume());
      for (const { id, last } of lasts) {
        const events = seen.get(id) ?? [];
        await until(`all of ${id}`, () => events.length >= last || failure !== null, { within: 150_000 });
        expect(failure).toBeNull();
        expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, n) => n + 1));
        const reader = slow[ids.indexOf(id)];
        await until('all of it to the slow one', () => (reader?.events.length ?? 0) >= last, { within: 150_000 });
        expect(reader?.events).toEqual(events);
        expect(fold(events)).toEqual(await readMessages(client, id));
      }
      over.abort();
      await followed;
      expect(cuts).toBeGreaterThanOrEqual(5);
    }; // prettier-ignore

  it(
    'api and worker, PostgreSQL alone: cut connections, slow readers and 24 racing writers: every number once, in order',
    cutAndSlow(() => Promise.resolve({})),
    LONG ? 600_000 : 120_000,
  );

  it(
    'api and worker, PostgreSQL alone: nothing is lost or doubled, and a stop is announced',
    killedAndStopped(() => Promise.resolve({})),
    120_000,
  );
  describeWithRedis('with Redis', () => {
    const withRedis = async () => {
      const redis = await RedisServer.start();
      undo.push(() => redis.stop());
      return { REDIS_URL: redis.url };
    };
    it('likewise', killedAndStopped(withRedis), 120_000);
    (LONG ? it : it.skip)('cut connections, slow readers and racing writers: likewise', cutAndSlow(withRedis), 600_000);
  });
});
