import { Injectable, Module, Scope } from '@nestjs/common';
import { ChoreRunner, JobHandler, JobQueue, JobWork, Transactions } from '../../src/index.js';
import { Database } from '../../src/platform/database/database.js';
import { backOffMs } from '../../src/platform/jobs/job-runner.js';
import { JobClaims } from '../../src/platform/jobs/job-claims.js';
import { JobFigures } from '../../src/platform/jobs/job-figures.js';
import type { KnownHandler } from '../../src/platform/jobs/job-handlers.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { createDatabase } from '../harness/database.js';
import { addJob, gone, HeldJobs, heldWork, jobRow } from '../harness/jobs.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

describe('A job', () => {
  const service = useService(() => bootWorker({ imports: [HeldJobs] }));
  const add = (n: number, options?: { key?: string; dueAt?: Date }) => addJob(service, n, options);
  const row = (n: number) => jobRow(service, n);
  const set = (n: number, change: string) =>
    service.db.query(`UPDATE jobs SET ${change} WHERE data->>'n' = $1`, [String(n)]);
  const figures = () => service.app.get(Metrics).registry.metrics();

  it('begins after the commit, and is gone when its handler has ended', async () => {
    await add(1);
    const { job, done } = await heldWork(service).of(1);
    expect(job).toMatchObject({ data: { n: 1 }, attempt: 1 });
    expect(await row(1)).toMatchObject({ id: job.id, status: 'running', epoch: 1, attempts: 1 });
    done();
    await gone(service, 1);
  });

  it('of a transaction that is not committed does not exist', async () => {
    const queue = service.app.get(JobQueue);
    const open = service.app.get(Transactions).open(async (tx) => {
      await queue.add(tx, 'held', { n: 2 });
      throw new Error('Changed my mind.');
    });
    await expect(open).rejects.toThrow('Changed my mind.');
    expect(await row(2)).toBeUndefined();
  });

  it('that is due later begins then', async () => {
    await add(3, { dueAt: new Date(Date.now() + 3_600_000) });
    await add(4);
    (await heldWork(service).of(4)).done();
    expect(await row(3)).toMatchObject({ status: 'queued', epoch: 0 });
    await set(3, 'due_at = now()');
    (await heldWork(service).of(3)).done();
    await gone(service, 3);
  });

  it('whose handler throws is tried again later and later, and fails at its last attempt', async () => {
    await add(5);
    for (const [attempt, wait] of [[1, 1], [2, 3]] as const) {
      const { job, fail } = await heldWork(service).of(5, attempt);
      expect(job.attempt).toBe(attempt);
      fail(new Error('No such \0 host.'));
      const found = await until('it to wait', async () => ((await row(5))?.status === 'queued' ? row(5) : null));
      expect(found).toMatchObject({ attempts: attempt, lease: null, lastError: 'Error: No such  host.' });
      expect(found.due).toBeLessThanOrEqual(wait);
      await set(5, 'due_at = now()');
    }
    (await heldWork(service).of(5, 3)).fail(new Error('Still none.'));
    await until('it to have failed', async () => (await row(5))?.status === 'failed');
    expect(await row(5)).toMatchObject({ attempts: 3, lease: null, lastError: 'Error: Still none.' });
    expect(await figures()).toContain('millwright_jobs_ended_total{queue="held",outcome="retried"} 2');
    expect(await figures()).toContain('millwright_jobs_failed{queue="held"} 1');
  }); // prettier-ignore

  it('that has failed is kept for 30 days', async () => {
    const { app } = service;
    const forget = () => app.get(ChoreRunner).run(app.get(JobFigures, { strict: false }), 'forgetFailed');
    await add(16, { dueAt: new Date(Date.now() + 60_000) });
    await set(16, `status = 'failed', failed_at = now() - interval '29 days'`);
    await forget();
    expect(await row(16)).toBeDefined();
    await set(16, `failed_at = now() - interval '31 days'`);
    await forget();
    expect(await row(16)).toBeUndefined();
  });

  it('with a key is not added while another of that key waits or runs', async () => {
    await add(6, { key: 'one' });
    const { done } = await heldWork(service).of(6);
    await add(7, { key: 'one' });
    expect(await row(7)).toBeUndefined();
    done();
    await gone(service, 6);
    await Promise.all([8, 8, 8, 8].map((n) => add(n, { key: 'one', dueAt: new Date(Date.now() + 60_000) })));
    expect(await service.db.query('SELECT key FROM jobs WHERE key IS NOT NULL')).toEqual([{ key: 'one' }]);
    await set(8, `status = 'failed'`);
    await add(9, { key: 'one' });
    (await heldWork(service).of(9)).done();
    await service.db.query('DELETE FROM jobs');
  });

  it('is one of so many at a time in a process', async () => {
    for (const n of [10, 11, 12]) await add(n);
    const first = await heldWork(service).of(10);
    await heldWork(service).of(11);
    expect(await row(12)).toMatchObject({ status: 'queued', epoch: 0 });
    expect(await figures()).toContain('millwright_jobs_waiting{queue="held"} 1');
    first.done();
    (await heldWork(service).of(12)).done();
    (await heldWork(service).of(11)).done();
    for (const n of [10, 11, 12]) await gone(service, n);
  });

  slowIt('that takes longer than its lease keeps it, and is not begun a second time', async () => {
    await add(13);
    const { done } = await heldWork(service).of(13);
    const [first] = await service.db.query<{ ends: Date }>(`SELECT lease_until AS ends FROM jobs WHERE status = 'running'`);
    // By then there have been looks at a lease that would have ended.
    await until('the first lease to be over', async () => {
      const over = `SELECT now() > $1::timestamptz + interval '1 second' AS over`;
      return (await service.db.query<{ over: boolean }>(over, [first?.ends]))[0]?.over;
    });
    expect(await row(13)).toMatchObject({ status: 'running', epoch: 1, attempts: 1 });
    done();
    await gone(service, 13);
  }); // prettier-ignore

  it('tells its handler of each confirmation of its lease, by when the database was asked', async () => {
    const { told } = heldWork(service);
    const before = { ...told, confirmed: told.confirmed.length };
    const began = performance.now();
    await add(20);
    const { done } = await heldWork(service).of(20);
    // By its claim, before it began.
    expect(told.confirmed.length).toBeGreaterThan(before.confirmed);
    const claimed = told.confirmed.length;
    await until('a renewal', () => told.confirmed.length > claimed && told.answers > before.answers);
    expect(told.confirmed.at(-1)).toBeGreaterThan(began);
    expect(told.confirmed.at(-1)).toBeLessThan(performance.now());
    done();
    await gone(service, 20);
  });

  it('that another process has taken is aborted here, and what this one records about it changes nothing', async () => {
    heldWork(service).heeds = false;
    await add(14);
    const { signal, done } = await heldWork(service).of(14);
    await set(14, `epoch = 2, attempts = 2, lease_until = now() + interval '1 hour'`);
    await until('the handler to be told', () => signal.aborted);
    expect(String(signal.reason)).toMatch(/^LeaseLostError: Job .* is no longer held by this process\.$/);
    done();
    await until('its end to be counted', async () => (await figures()).includes('queue="held",outcome="lost"} 1'));
    expect(await row(14)).toMatchObject({ status: 'running', epoch: 2, attempts: 2 });
    await set(14, `lease_until = now() - interval '1 second'`);
    heldWork(service).heeds = true;
    const again = await heldWork(service).of(14, 2);
    expect(again.job.attempt).toBe(3);
    again.done();
    await gone(service, 14);
  });

  it('that has lost its worker as often as it may be begun has failed', async () => {
    await add(15, { dueAt: new Date(Date.now() + 60_000) });
    await set(15, `status = 'running', epoch = 3, attempts = 3, lease_until = now() - interval '1 second'`);
    await until('it to have failed', async () => (await row(15))?.status === 'failed');
    expect(await row(15)).toMatchObject({ epoch: 4, lease: null, lastError: 'The worker was lost while this ran.' });
  });

  it('to a queue without a handler is refused, and the sentence says what is missing', async () => {
    const add = () => service.app.get(Transactions).open((tx) => service.app.get(JobQueue).add(tx, 'mails', {}));
    await expect(add()).rejects.toThrow(
      `The queue 'mails' has no handler: a provider of the class @JobHandler('mails') … extends JobWork is expected in a module. Known queues: `,
    );
  });
});

describe('Jobs of many processes', () => {
  it('twenty workers that claim at once have each job exactly once', async () => {
    const db = await createDatabase();
    const workers = Array.from({ length: 20 }, () => new Database(db.url));
    try {
      await db.query(
        `INSERT INTO jobs (id, queue, data) SELECT gen_random_uuid(), 'q' || n % 3, '{}' FROM generate_series(1, 1000) n`,
      );
      const handlers = ['q0', 'q1', 'q2'].map(
        (queue) => ({ queue, leaseSeconds: 60, attempts: 3, concurrency: 4 }) as KnownHandler,
      );
      const claimAll = async (database: Database, places: number) => {
        const claims = new JobClaims(database);
        const mine: string[] = [];
        for (;;) {
          const found = await claims.claim(handlers.map((handler) => ({ handler, places, held: [] })));
          for (const { queue } of found) expect(['q0', 'q1', 'q2']).toContain(queue);
          expect(found.length).toBeLessThanOrEqual(3 * places);
          if (found.length === 0) return mine;
          mine.push(...found.map(({ id }) => id));
        }
      };
      const taken = (await Promise.all(workers.map((database, n) => claimAll(database, 1 + (n % 4))))).flat();
      expect([taken.length, new Set(taken).size]).toEqual([1000, 1000]);
      expect(await db.query('SELECT DISTINCT status, epoch FROM jobs')).toEqual([{ status: 'running', epoch: 1 }]);
    } finally {
      await Promise.all(workers.map((database) => database.close()));
      await db.drop();
    }
  });

  it('workspaces take turns for the places of a process, of which one of several is kept', async () => {
    const db = await createDatabase();
    const database = new Database(db.url);
    try {
      await db.query(
        `INSERT INTO jobs (id, queue, share, data, due_at)
         SELECT gen_random_uuid(), 'q', share, jsonb_build_object('n', n), now() - make_interval(mins => minutes - n)
         FROM (VALUES ('a', 60, 9), ('b', 30, 2), ('c', 20, 1)) s(share, minutes, jobs), generate_series(1, jobs) n`,
      );
      const handler = { queue: 'q', leaseSeconds: 60, attempts: 3, concurrency: 4 } as KnownHandler;
      const claims = new JobClaims(database);
      const claim = async (places: number, held: { queue: string; share: string }[]) =>
        (await claims.claim([{ handler, places, held }])).map((job) => ({ queue: job.queue, share: job.share }));
      const first = await claim(4, []);
      expect(first.map(({ share }) => share).sort()).toEqual(['a', 'a', 'b', 'c']);
      const second = await claim(
        1,
        first.filter(({ share }) => share !== 'b'),
      );
      expect(second).toEqual([{ queue: 'q', share: 'b' }]);
      // Nobody else has any: one place is kept, for somebody who comes.
      expect(await claim(4, [])).toHaveLength(3);
      const ofA = [1, 2, 3].map(() => ({ queue: 'q', share: 'a' }));
      expect(await claim(4, ofA.slice(1))).toHaveLength(1);
      expect(await claim(1, ofA)).toEqual([]);
    } finally {
      await database.close();
      await db.drop();
    }
  });

  slowIt('at the end of a process the handlers are told, and another process has their jobs at once', async () => {
    const first = await bootWorker({ imports: [HeldJobs] });
    await addJob(first, 1);
    const { signal } = await heldWork(first).of(1);
    const second = await bootWorker({ imports: [HeldJobs], db: first.db });
    await first.app.close();
    expect(String(signal.reason)).toBe('Error: This process stops.');
    const { job, done } = await heldWork(second).of(1);
    // It was handed back: not an attempt, and no lease to wait for.
    expect(job.attempt).toBe(1);
    expect(await jobRow(second, 1)).toMatchObject({ epoch: 2, attempts: 1 });
    done();
    await gone(second, 1);
    await second.close();
    await first.db.drop();
  });
});

describe('A handler', () => {
  @JobHandler('held')
  class OtherWork extends JobWork {
    handle = () => Promise.resolve();
  }

  it.each([
    ['of a queue that has one', [HeldJobs], OtherWork, `The queue 'held' has two handlers, HeldWork and OtherWork: rename it in the @JobHandler of one, or take one out of its module.`],
    ['that is no JobWork', [], noWork(), 'The handler NoWork of the queue \'none\' is no JobWork: let the class extend JobWork.'],
    ['that is made anew', [], anew(), 'The handler Anew is a provider that is made anew: a singleton is expected.'],
  ])('%s stops the boot, in an api too', async (_title, others, provider, message) => {
    @Module({ providers: [provider] })
    class More {}
    await expect(bootApp({ imports: [...others, More] })).rejects.toThrow(message);
  }); // prettier-ignore

  it.each([
    ['Mails', {}, `'Mails' cannot name a queue`],
    ['runs', {}, `'runs' cannot name a queue`],
    ['mails', { concurrency: 0 }, `a whole number from 1 is expected as 'concurrency'.`],
    ['mails', { attempts: 1.5 }, `a whole number from 1 is expected as 'attempts'.`],
    ['mails', { leaseSeconds: 1 }, `a whole number from 3 to 86400 is expected as 'leaseSeconds'.`],
  ])('@JobHandler(%j, %j) is refused', (name, options, message) => {
    class Wrong {}
    expect(() => JobHandler(name, options)(Wrong)).toThrow(`@JobHandler of Wrong: ${message}`);
  });

  it('that throws is called again after 1, 3, 9 s and so on up to an hour, or as little as half of that', () => {
    expect([1, 2, 3, 8, 9, 50].map((attempt) => backOffMs(attempt, 0))).toEqual([
      1_000, 3_000, 9_000, 2_187_000, 3_600_000, 3_600_000,
    ]);
    expect(backOffMs(3, 1)).toBe(4_500);
  });
});

function noWork() {
  @JobHandler('none')
  class NoWork {}
  return NoWork;
}

function anew() {
  @JobHandler('anew')
  class Anew extends JobWork {
    handle = () => Promise.resolve();
  }
  Injectable({ scope: Scope.REQUEST })(Anew);
  return Anew;
}
