import { setTimeout as wait } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { keptPlaces } from '../fairness/shares.js';
import { DatabaseServer } from '../database/database-server.js';
import { retryWhileUnavailable } from '../database/retry-while-unavailable.js';
import { Metrics } from '../metrics/metrics.js';
import { Notices, type Work } from '../notices/notices.js';
import { JobClaims } from './job-claims.js';
import { JobHandlers, type KnownHandler } from './job-handlers.js';
import type { ClaimedJob } from './jobs.sql.js';
import { Leases, LeaseLostError } from './leases.js';
import { WorkLoop } from './work-loop.js';

interface WorkedQueue {
  handler: KnownHandler;
  /** The jobs of the queue that this process carries out. */
  jobs: Leases<ClaimedJob>;
}

/** How a job left this process. */
type Outcome = 'done' | 'retried' | 'failed' | 'handed_back' | 'lost';

/** How long the end of the process waits for handlers that do not heed their signal. Milliseconds. */
const CLOSE_MS = 5_000;

/**
 * Carries out the jobs of this process's handlers: claims what is due, lets the handler work, records how it ended. Each second
 * it looks at the table for what no signal has brought.
 */
@Injectable()
export class JobRunner implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('Jobs');
  private readonly queues = new Map<string, WorkedQueue>();
  /** There may be work in these. */
  private readonly wanted = new Set<WorkedQueue>();
  private readonly recovery = new WorkLoop({ at: 'the jobs', look: () => this.recover() });
  private readonly claiming = new WorkLoop({ at: 'jobs that wait', look: () => this.claimWanted() });
  private stopping = false;

  constructor(
    private readonly handlers: JobHandlers,
    private readonly claims: JobClaims,
    private readonly notices: Notices,
    private readonly server: DatabaseServer,
    private readonly metrics: Metrics,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // With the embedded database no other process works: what is running was a killed process's.
    if (this.server.embedded) await this.claims.endLeases();
    for (const handler of this.handlers.all) this.queues.set(handler.queue, this.worked(handler));
    this.notices.on(
      'work',
      (work) => void this.wake(work),
      () => this.tick(),
    );
    this.tick();
  }

  /**
   * Where every signal ends: takes what waits in the queue, as far as there are places. Resolves with whether nothing of it waits
   * for a place of this process now. Never rejects: the next look tries again.
   */
  async wake({ kind }: Pick<Work, 'kind'>): Promise<boolean> {
    const queue = this.queues.get(kind);
    if (queue === undefined) return false;
    this.wanted.add(queue);
    await this.claiming.wake();
    // One of a workspace that gets no more places here may find one elsewhere.
    return this.free(queue) > keptPlaces(queue.handler.concurrency);
  }

  /** A signal that came to this process alone: what it does not take it passes on by a notice. */
  async wakeOrPassOn(work: Work): Promise<void> {
    if (!(await this.wake(work))) this.notices.passOn({ work });
  }

  @Interval(1000)
  tick(): void {
    if (this.queues.size > 0) void this.recovery.wake();
  }

  /** Handlers hear of the end of the process before anything closes. */
  onModuleDestroy(): void {
    this.stopping = true;
    for (const { jobs } of this.queues.values()) {
      for (const held of jobs.held) jobs.abort(held, new Error('This process stops.'));
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    const jobs = [...this.queues.values()].map((queue) => queue.jobs);
    // Claims under way first: what they bring is held by then, and is handed back.
    await Promise.all([this.recovery.end(), this.claiming.end()]);
    const ends = Promise.all(jobs.flatMap(({ held }) => held.map(({ done }) => done)));
    const limit = new AbortController();
    await Promise.race([ends, wait(CLOSE_MS, undefined, limit).catch(() => undefined)]);
    limit.abort();
    for (const one of jobs) one.stop();
    const left = jobs.reduce((sum, { size }) => sum + size, 0);
    if (left > 0)
      this.logger.warn(`${left} jobs did not end with the process; others take them when their leases end.`);
  }

  private worked(handler: KnownHandler): WorkedQueue {
    const { queue, leaseSeconds, work } = handler;
    const jobs = new Leases<ClaimedJob>({
      kind: 'job',
      leaseMs: leaseSeconds * 1000,
      renew: (held) => this.claims.renew(held, leaseSeconds),
      lost: ({ id }) => new LeaseLostError(`Job ${id} of the queue '${queue}' is no longer held by this process.`),
      answered: () => work.heartbeat?.beat(),
      confirmed: (at) => work.heartbeat?.confirmed(at),
    });
    jobs.start();
    return { handler, jobs };
  }

  private async recover(): Promise<void> {
    const queues = [...this.queues.values()];
    for (const { id, queue, failed } of await this.claims.recover(queues.map(({ handler }) => handler))) {
      this.logger.warn(`Job ${id} of '${queue}' is taken from a worker that has not renewed its lease.`);
      if (failed) this.logger.error(`Job ${id} of '${queue}' has lost its worker too often: it has failed.`);
      if (failed) this.metrics.jobsEnded.inc({ queue, outcome: 'failed' });
    }
    for (const queue of queues) this.wanted.add(queue);
    await this.claiming.wake();
  }

  private free({ handler, jobs }: WorkedQueue): number {
    return this.stopping ? 0 : handler.concurrency - jobs.size;
  }

  /** One claim at a time, so that none counts on places that another is about to take. */
  private async claimWanted(): Promise<void> {
    const wanted = [...this.wanted].map((queue) => ({ queue, places: this.free(queue) }));
    this.wanted.clear();
    const open = wanted.filter(({ places }) => places > 0);
    if (open.length === 0) return;
    const askedAt = performance.now();
    for (const job of await this.claims.claim(open.map(asked))) void this.drive(job, askedAt);
  }

  private async drive(job: ClaimedJob, askedAt: number): Promise<void> {
    const queue = this.queues.get(job.queue);
    if (queue === undefined) return;
    const { controller } = queue.jobs.add(job, askedAt);
    const outcome = await this.outcome(job, queue.handler, controller.signal);
    queue.jobs.remove(job);
    this.metrics.jobsEnded.inc({ queue: job.queue, outcome });
    if (outcome === 'handed_back') this.notices.passOn({ work: { kind: job.queue, id: job.id } });
    void this.wake({ kind: job.queue });
  }

  /** Carries the job out and records its end. Never rejects. */
  private async outcome(job: ClaimedJob, handler: KnownHandler, signal: AbortSignal): Promise<Outcome> {
    const name = `Job ${job.id} of '${job.queue}'`;
    const end = async (outcome: Outcome, write: () => Promise<boolean>) =>
      (await retryWhileUnavailable(write, signal)) ? outcome : 'lost';
    try {
      const thrown = this.stopping ? STOPPED : await attempt(job, handler, signal);
      // Even when the lease counts as lost here: if nobody has taken the job meanwhile, it need not be done again.
      if (thrown === null) return await end('done', () => this.claims.done(job));
      if (signal.reason instanceof LeaseLostError) return 'lost';
      if (this.stopping) return await end('handed_back', () => this.claims.handBack(job));
      const tried = `at attempt ${job.attempts} of ${handler.attempts}`;
      if (job.attempts < handler.attempts) {
        this.logger.warn(`${name} failed ${tried}, and is tried again: ${String(thrown.error)}`);
        return await end('retried', () => this.claims.again(job, thrown.error, backOffMs(job.attempts)));
      }
      this.logger.error({ reason: `${name} has failed ${tried}.`, err: thrown.error });
      return await end('failed', () => this.claims.fail(job, thrown.error));
    } catch (error) {
      // Its lease runs out, and it is begun again.
      this.logger.warn(`The end of ${name} was not recorded: ${String(error)}`);
      return 'lost';
    }
  }
}

function asked({ queue: { handler, jobs }, places }: { queue: WorkedQueue; places: number }) {
  return { handler, places, held: jobs.held.map(({ claim }) => claim) };
}

/** What a handler has thrown. */
interface Thrown {
  error: unknown;
}
const STOPPED: Thrown = { error: null };

/** Resolves with null when the handler has done the job. */
async function attempt(job: ClaimedJob, { work }: KnownHandler, signal: AbortSignal): Promise<Thrown | null> {
  try {
    await work.handle({ id: job.id, data: job.data, attempt: job.attempts }, signal);
    return null;
  } catch (error) {
    return { error };
  }
}

const [FIRST_MS, FACTOR, LONGEST_MS] = [1_000, 3, 3_600_000];

/**
 * How long a job waits after its attempt number `attempt` has failed, in milliseconds: 1 s, 3 s, 9 s and so on up to an hour, each
 * shortened by chance to as little as half, so that what failed together does not come back together.
 */
export function backOffMs(attempt: number, chance = Math.random()): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * FACTOR ** (attempt - 1));
  return Math.round(whole * (1 - chance / 2));
}
