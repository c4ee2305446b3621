import { Module } from '@nestjs/common';
import { type Job, JobHandler, JobQueue, JobWork, Transactions } from '../../src/index.js';
import type { TestApp } from './app.js';
import { until } from './until.js';

/** A job in the hands of its handler. */
export interface HeldJob {
  job: Job<{ n: number }>;
  signal: AbortSignal;
  done: () => void;
  fail: (error: Error) => void;
}

/** Begins jobs, and ends each when the test says so or when its signal is aborted. */
@JobHandler('held', { concurrency: 2, leaseSeconds: 6, attempts: 3 })
export class HeldWork extends JobWork<{ n: number }> {
  readonly begun: HeldJob[] = [];
  /** When the database was asked about leases that it confirmed, and how often it has answered. */
  readonly told = { confirmed: [] as number[], answers: 0 };
  override readonly heartbeat = {
    confirmed: (askedAt: number) => void this.told.confirmed.push(askedAt),
    beat: () => void this.told.answers++,
  };
  /** Whether a job ends with its signal. */
  heeds = true;

  handle(job: Job<{ n: number }>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.begun.push({ job, signal, done: resolve, fail: reject });
      if (this.heeds) signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  }

  /** The job with this number, when it has begun for the `times`th time in this process. */
  async of(n: number, times = 1): Promise<HeldJob> {
    return until(`job ${n} to begin`, () => this.begun.filter(({ job }) => job.data.n === n)[times - 1]);
  }
}

/** The module that a test boots: `imports: [HeldJobs]`. */
@Module({ providers: [HeldWork] })
export class HeldJobs {}

export function heldWork({ app }: TestApp): HeldWork {
  return app.get(HeldWork, { strict: false });
}

/** Adds a job to the queue `held` in a transaction of its own. */
export function addJob(service: TestApp, n: number, options?: { key?: string; dueAt?: Date }): Promise<void> {
  const queue = service.app.get(JobQueue);
  return service.app.get(Transactions).open((tx) => queue.add(tx, 'held', { n }, options));
}

export interface JobRow {
  id: string;
  status: string;
  epoch: number;
  attempts: number;
  lastError: string | null;
  /** Seconds from now. */
  due: number;
  lease: number | null;
}

/** The row of the job with this number. */
export async function jobRow({ db }: Pick<TestApp, 'db'>, n: number): Promise<JobRow | undefined> {
  const [row] = await db.query<JobRow>(
    `SELECT id, status, epoch, attempts, last_error AS "lastError",
       extract(epoch FROM due_at - now())::float8 AS due, extract(epoch FROM lease_until - now())::float8 AS lease
     FROM jobs WHERE data->>'n' = $1`,
    [String(n)],
  );
  return row;
}

export async function gone(service: Pick<TestApp, 'db'>, n: number): Promise<void> {
  await until(`job ${n} to be gone`, async () => (await jobRow(service, n)) === undefined);
}
