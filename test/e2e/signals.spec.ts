import { getQueueToken } from '@nestjs/bull';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { Queue } from 'bull';
import { BULL_QUEUES } from '../../src/platform/notices/bull-queues.js';
import { Notices, type Work } from '../../src/platform/notices/notices.js';
import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { ModelServer } from '../harness/model-server.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { createTask, finished, runTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { SLOW, sizedDescribe, slowIt } from '../harness/slow.js';

/** A worker that by its lease alone would hear of a cancel after 200 s. */
const BY_NOTICES = { ROLE: 'worker', LEASE_SECONDS: '600' };

describeWithRedis('Work is signalled by Bull when there is a Redis (reference §16)', () => {
  let redis: RedisServer;
  let model: ModelServer;
  let member: Member;

  const service = useService(async () => {
    redis = await RedisServer.start();
    model = await ModelServer.start();
    return bootWorker({ env: { REDIS_URL: redis.url, OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(async () => {
    await model.stop();
    await redis.stop();
  });

  it('a task is brought to its worker by a job that carries a kind and an id and nothing else, and leaves nothing in Redis', async () => {
    const queue = service.app.get<Queue<Work>>(getQueueToken(BULL_QUEUES.runs));
    const jobs: unknown[] = [];
    queue.on('completed', (job) => jobs.push(job.data));
    const { id } = await runTask(member.client, script({ text: 'Rung.' }));
    const [run] = await service.db.query<{ id: string }>('SELECT id FROM runs WHERE task_id = $1', [id]);
    await until('the job to be seen', () => jobs.length > 0);
    expect(jobs).toEqual([{ kind: 'runs', id: run?.id }]);
    await until(
      'Redis to hold no job',
      async () => ((await redis.command('KEYS', 'bull:runs:[0-9]*')) as unknown[]).length === 0,
    );
  });

  it('a signal that is doubled or comes too late does nothing', async () => {
    const { id } = await runTask(member.client, script({ text: 'Once.' }));
    const [run] = await service.db.query<{ id: string; epoch: number }>(
      'SELECT id, epoch FROM runs WHERE task_id = $1',
      [id],
    );
    const notices = service.app.get(Notices);
    for (let n = 0; n < 5; n++) notices.send({ work: { kind: 'runs', id: run?.id ?? '' } });
    notices.send({ work: { kind: 'runs', id: 'no id at all' } });
    await runTask(member.client, 'Another.');
    expect(await service.db.query('SELECT epoch FROM runs WHERE task_id = $1', [id])).toEqual([{ epoch: run?.epoch }]);
  });

  slowIt('Redis flushed, killed and back: work goes on through PostgreSQL, and requests do not wait for it', async () => {
    await redis.command('FLUSHALL');
    expect(await runTask(member.client, 'After a flush.')).toMatchObject({ status: 'completed' });
    await redis.kill();
    const asked = Date.now();
    const { id } = await createTask(member.client, { content: 'Without Redis.' });
    // Not for as long as Redis is away, nor until its connection gives up.
    expect(Date.now() - asked).toBeLessThan(20_000);
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed' });
    await redis.run();
    const queue = service.app.get<Queue>(getQueueToken(BULL_QUEUES.runs));
    let rung = 0;
    queue.on('completed', () => (rung += 1));
    await until('signals to come through Redis again', async () => {
      await runTask(member.client, 'Redis is back.');
      return rung > 0;
    });
  }); // prettier-ignore

  slowIt('a service that is told to stop while Redis stands still ends all the same', async () => {
    const files = temporaryFolder();
    const process = await ServiceProcess.start({
      DATABASE_URL: service.db.url,
      DATA_DIR: files.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      OPENAI_COMPATIBLE_URL: model.url,
      REDIS_URL: redis.url,
    });
    redis.freeze();
    try {
      // A request that rings, so that it knows.
      await runTask(new Client(process.url, member.key.secret), 'Redis stands still.');
      const asked = Date.now();
      expect(await process.end('SIGTERM')).toBe(0);
      expect(Date.now() - asked).toBeLessThan(60_000);
    } finally {
      redis.thaw();
      files.remove();
    }
  });
});

// Of two places one is kept for workspaces that have no running task.
sizedDescribe.each(SLOW ? [1, 2] : [1])('Of two workers one has %i places, and none is open', (places) => {
  describeWithRedis('with Bull', () => workers(places));
});

function workers(places: number): void {
  let redis: RedisServer;
  let model: ModelServer;
  let full: TestApp;
  let client: Client;
  let other: TestApp;

  beforeAll(async () => {
    redis = await RedisServer.start();
    model = await ModelServer.start();
    const env = { REDIS_URL: redis.url, OPENAI_COMPATIBLE_URL: model.url };
    full = await bootWorker({ env: { ...env, WORKER_CONCURRENCY: String(places) } });
    ({ client } = await makeMember(full));
    await createTask(client, { content: script({ hang: true }) });
    await until('its place to be taken', () => model.openRequests > 0);
    other = await bootWorker({ db: full.db, env: { ...env, ROLE: 'worker' } });
    // Nothing but signals brings work to this one.
    const intervals = other.app.get(SchedulerRegistry, { strict: false });
    for (const name of intervals.getIntervals()) intervals.deleteInterval(name);
  });
  afterAll(async () => {
    await other.close();
    await full.close();
    await model.stop();
    await redis.stop();
  });

  it('a task whose signal comes to that one is brought to the other', async () => {
    // Bull takes turns.
    for (let n = 0; n < 6; n++) expect(await runTask(client, 'Brought.')).toMatchObject({ status: 'completed' });
  });
}

describe('Without Redis work is signalled through PostgreSQL', () => {
  let model: ModelServer;
  let db: TestDatabase;
  const files = temporaryFolder();

  beforeAll(async () => {
    model = await ModelServer.start();
    db = await createDatabase();
  });
  afterAll(async () => {
    await db.drop();
    await model.stop();
    files.remove();
  });

  it('an api process and a worker process share the work; a cancel reaches the worker', async () => {
    const env = {
      DATABASE_URL: db.url,
      DATA_DIR: files.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      OPENAI_COMPATIBLE_URL: model.url,
    };
    const api = await bootApp({ db, env });
    const { key } = await makeMember(api);
    const client = new Client(api.url, key.secret);
    const early = await createTask(client, { content: 'Before any worker.' });
    const worker = await ServiceProcess.start({ ...env, ...BY_NOTICES });
    expect(await finished(client, early.id)).toMatchObject({ status: 'completed' });
    expect(await runTask(client, script({ text: 'By the other process.' }))).toMatchObject({ status: 'completed' });
    const { id } = await createTask(client, { content: script({ hang: true }) });
    await until('the worker to call the model', () => model.openRequests > 0);
    expect((await client.request('POST', `/v1/tasks/${id}/cancel`)).status).toBe(200);
    await until('the worker to have let go', () => model.openRequests === 0);
    expect(await worker.end()).toBe(0);
    await api.close();
  });

  slowIt('what else is sent on the channel is ignored by every process, and the next cancel still arrives', async () => {
    const env = {
      DATABASE_URL: db.url,
      DATA_DIR: files.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      OPENAI_COMPATIBLE_URL: model.url,
    };
    const api = await bootApp({ db, env });
    const worker = await ServiceProcess.start({ ...env, ...BY_NOTICES });
    const { client } = await makeMember(api);
    const { id } = await createTask(client, { content: script({ hang: true }) });
    await until('the worker to call the model', () => model.openRequests > 0);
    const foreign = ['', 'x', 'null', '1', '[]', '{}', '{"stop":["x"]}', '{"from":"x"}', '{"from":"x","stop":1}'];
    foreign.push('{"from":"x","work":{"kind":"runs"}}', '{"from":"x","subscribed":null}', '{"from":"x","update":1}');
    foreign.push('{"from":"x","events":[]}');
    for (const payload of foreign) await db.query('SELECT pg_notify($1, $2)', ['millwright', payload]);
    await until(
      'the worker to have ignored them',
      () => worker.log.split('was ignored').length > foreign.length - 1 || worker.ended,
    );
    expect((await client.request('POST', `/v1/tasks/${id}/cancel`)).status).toBe(200);
    await until('the worker to have let go', () => model.openRequests === 0);
    expect(await runTask(client, script({ text: 'Still there.' }))).toMatchObject({ status: 'completed' });
    expect(await worker.end()).toBe(0);
    await api.close();
  }); // prettier-ignore
});
