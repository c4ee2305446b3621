import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { sql } from '../../platform/database/sql.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { RateLimiter } from '../../access/rate-limit/rate-limiter.js';

interface Queue {
  queued: number;
  running: number;
  waiting: number;
  /** Seconds. */
  age: number;
  /** Bytes. */
  files: number;
  workdirs: number;
}

// All figures of the queue come from partial indexes that hold nothing but what is not over.
const QUEUE = sql`
SELECT (SELECT count(*) FROM runs WHERE status = 'queued')::float8 AS queued,
  (SELECT count(*) FROM runs WHERE status = 'running')::float8 AS running,
  (SELECT count(*) FROM interactions WHERE status = 'pending')::float8 AS waiting,
  coalesce((SELECT extract(epoch FROM now() - min(created_at)) FROM runs WHERE status = 'queued'), 0)::float8 AS age,
  coalesce((SELECT sum(stored_bytes) FROM storage_usage), 0)::float8 AS files,
  coalesce((SELECT sum(workdir_bytes) FROM storage_usage), 0)::float8 AS workdirs`.rows<Queue>();

/** Figures that are read when Prometheus asks: the queue, from the database, and the process itself. */
@Injectable()
export class ServiceFigures implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly database: Database,
    private readonly limiter: RateLimiter,
  ) {}

  onModuleInit(): void {
    const { metrics } = this;
    const one = (read: () => number) => () => Promise.resolve<[string, number][]>([['', read()]]);
    metrics.gauge('runs', 'Runs that are not over, of all processes; asking: waiting for a person.', 'state', () => this.runs());
    metrics.gauge('queue_age_seconds', 'How long the oldest queued run has waited.', null, () => this.age());
    const stored = 'Bytes of uploads and files, equal ones of a workspace once, and of workdirs as last measured.';
    metrics.gauge('stored_bytes', stored, 'kind', () => this.stored());
    metrics.gauge('process_resident_bytes', 'Resident memory.', null, one(() => process.memoryUsage.rss()));
    metrics.gauge('process_uptime_seconds', 'Since the start of the process.', null, one(() => process.uptime()));
    const help = 'Requests that were limited in memory, because Redis did not answer.';
    metrics.total('rate_limit_fallbacks_total', help, () => this.limiter.fallbacks);
    metrics.total('process_cpu_seconds_total', 'CPU time, user and system.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    });
  } // prettier-ignore

  // Without a database the rest of the figures is all the more of interest: these are then missing.
  private async runs(): Promise<[string, number][]> {
    const queue = await this.read();
    if (queue === undefined) return [];
    return [
      ['queued', queue.queued],
      ['running', queue.running],
      ['asking', queue.waiting],
    ];
  }

  private async age(): Promise<[string, number][]> {
    const queue = await this.read();
    return queue === undefined ? [] : [['', queue.age]];
  }

  private async stored(): Promise<[string, number][]> {
    const figures = await this.read();
    if (figures === undefined) return [];
    return [
      ['files', figures.files],
      ['workdirs', figures.workdirs],
    ];
  }

  private reading: Promise<Queue | undefined> | undefined;

  /** One statement for all gauges of one scrape. */
  private read(): Promise<Queue | undefined> {
    this.reading ??= this.database.read
      .run(QUEUE())
      .then(([queue]) => queue)
      .catch(() => undefined)
      .finally(() => (this.reading = undefined));
    return this.reading;
  }
}
