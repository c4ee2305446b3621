import { Injectable, type OnModuleInit } from '@nestjs/common';
import { VERSION } from '../../platform/config/version.js';
import { DiskSpace } from '../../platform/disk/disk-space.js';
import { Database } from '../../platform/database/database.js';
import { sql } from '../../platform/database/sql.js';
import { Metrics, oncePerScrape } from '../../platform/metrics/metrics.js';
import { DUE, UNREAD, type Waiting } from '../doctor/work.sql.js';
import { RateLimiter } from '../../access/rate-limit/rate-limiter.js';

interface Queue {
  queued: number;
  running: number;
  waiting: number;
  /** Seconds. */
  age: number;
  /** Runs that nobody has taken over. */
  stuck: number;
  automations: Waiting;
  events: Waiting;
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
  (SELECT count(*) FROM runs WHERE status = 'running' AND lease_until < now() - interval '30 seconds')::float8 AS stuck,
  (SELECT row_to_json(q) FROM (${DUE}) q) AS automations,
  (SELECT row_to_json(q) FROM (${UNREAD}) q) AS events,
  coalesce((SELECT sum(stored_bytes) FROM storage_usage), 0)::float8 AS files,
  coalesce((SELECT sum(workdir_bytes) FROM storage_usage), 0)::float8 AS workdirs`.rows<Queue>();

/** The value of the gauge's label, and the figure. */
type Figure = [string, number];

/** Figures that are read when Prometheus asks: the queue, from the database, and the process itself. */
@Injectable()
export class ServiceFigures implements OnModuleInit {
  private readonly read = oncePerScrape(() => this.database.read.run(QUEUE()).catch(() => []));

  constructor(
    private readonly metrics: Metrics,
    private readonly database: Database,
    private readonly limiter: RateLimiter,
    private readonly space: DiskSpace,
  ) {}

  onModuleInit(): void {
    const { metrics } = this;
    const one = (read: () => number) => () => Promise.resolve<Figure[]>([['', read()]]);
    const built = () => Promise.resolve<Figure[]>([[VERSION, 1]]);
    metrics.gauge('build_info', 'Always 1; the version of Millwright.', 'version', built);
    metrics.gauge('runs', 'Runs that are not over, of all processes; asking: waiting for a person.', 'state', this.shown(runs));
    metrics.gauge('runs_queued', 'Runs that wait for a worker, of all processes: what a number of workers is chosen by.', null, this.shown(({ queued }) => [['', queued]]));
    metrics.gauge('queue_age_seconds', 'How long the oldest queued run has waited.', null, this.shown(({ age }) => [['', age]]));
    metrics.gauge('stuck_runs', 'Runs whose lease ended more than 30 seconds ago; all processes.', null, this.shown(({ stuck }) => [['', stuck]]));
    const waiting = 'How long the first due automation, and the first event that a handler has not read, has waited.';
    metrics.gauge('waiting_age_seconds', waiting, 'queue', this.shown(({ automations, events }) => [['automations', automations.age], ['events', events.age]]));
    const bytes = 'Bytes of uploads and files, equal ones of a workspace once, and of workdirs as last measured.';
    metrics.gauge('stored_bytes', bytes, 'kind', this.shown(stored));
    metrics.gauge('process_resident_bytes', 'Resident memory.', null, one(() => process.memoryUsage.rss()));
    metrics.gauge('process_uptime_seconds', 'Since the start of the process.', null, one(() => process.uptime()));
    metrics.gauge('disk_free_bytes', 'Free on the file system with the least to spare.', null, one(() => this.space.scarcest.free));
    metrics.gauge('disk_reserve_bytes', 'Its reserve; below it new data is refused.', null, one(() => this.space.scarcest.reserve));
    const help = 'Requests that were limited in memory, because Redis did not answer.';
    metrics.total('rate_limit_fallbacks_total', help, () => this.limiter.fallbacks);
    metrics.total('process_cpu_seconds_total', 'CPU time, user and system.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    });
  } // prettier-ignore

  // Without a database the rest of the figures is all the more of interest: these are then missing.
  private shown(figures: (queue: Queue) => Figure[]): () => Promise<Figure[]> {
    return async () => {
      const [queue] = await this.read();
      return queue === undefined ? [] : figures(queue);
    };
  }
}

function runs({ queued, running, waiting }: Queue): Figure[] {
  return [
    ['queued', queued],
    ['running', running],
    ['asking', waiting],
  ];
}

function stored({ files, workdirs }: Queue): Figure[] {
  return [
    ['files', files],
    ['workdirs', workdirs],
  ];
}
