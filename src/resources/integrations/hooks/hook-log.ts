import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { MemoryBuckets } from '../../../access/rate-limit/memory-buckets.js';
import { bucketOf } from '../../../access/rate-limit/gcra.js';
import { Chore } from '../../../platform/chores/chore.js';
import { inBatches } from '../../../platform/chores/in-batches.js';
import { Database } from '../../../platform/database/database.js';
import { newId } from '../../../platform/database/ids.js';
import { LOCKS } from '../../../platform/database/locks.js';
import { Transactions } from '../../../platform/database/transactions.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import type { Verdict } from '../hook-delivery.entity.js';
import { NOTE, PURGE, PURGE_BATCH } from './hook-deliveries.sql.js';

/** What stands in the log of a connection beside the verdict. */
export interface Noted {
  connectionId: string;
  slug: string;
  event?: string | null;
  deliveryId?: string | null;
}

/** Entries of one verdict that a process writes for a connection: a flood does not cost a write for each request. */
const WRITES = [bucketOf('hook log', { capacity: 10, windowSeconds: 10 })] as const;
const HOUR = 3_600_000;

/** What became of deliveries: figures for Prometheus, entries in the logs of connections (reference §13). */
@Injectable()
export class HookLog implements BeforeApplicationShutdown {
  private readonly logger = new Logger('hooks');
  private readonly written = new MemoryBuckets(10_000);
  private readonly pending = new Set<Promise<void>>();
  private readonly total: Counter<'integration' | 'verdict'>;

  constructor(
    private readonly transactions: Transactions,
    private readonly database: Database,
    metrics: Metrics,
  ) {
    const help = 'Deliveries of providers that this process answered.';
    this.total = metrics.counter('hook_deliveries_total', help, 'integration', 'verdict');
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.pending);
  }

  /** Counts a delivery. `slug`: null for a connection that does not exist. */
  count(slug: string | null, verdict: Verdict | 'unknown_connection' | 'rate_limited'): void {
    this.total.inc({ integration: slug ?? 'none', verdict });
  }

  /**
   * Counts a delivery that had no effect and notes it. The answer does not wait for the entry: a connection that exists would be told
   * apart by it from one that does not.
   */
  note(verdict: Verdict, { connectionId, slug, event = null, deliveryId = null }: Noted): void {
    this.count(slug, verdict);
    if (!this.written.take(`${connectionId} ${verdict}`, WRITES).allowed) return;
    const entry = NOTE({ id: newId(), connectionId, verdict, event, deliveryId });
    const write = this.transactions.run(entry).then(
      () => undefined,
      (err: unknown) => this.logger.warn({ reason: 'A delivery was not noted.', connectionId, err }),
    );
    this.pending.add(write);
    void write.then(() => this.pending.delete(write));
  }

  /** Forgets what is older than 30 days. Resolves with how many there were. */
  @Chore({ every: HOUR, lock: LOCKS.oldDeliveries })
  async purge(signal?: AbortSignal): Promise<number> {
    return inBatches(PURGE_BATCH, () => this.database.work.run(PURGE()), signal);
  }
}
