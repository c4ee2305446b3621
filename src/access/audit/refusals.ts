import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import { REFUSALS, type RefusalRow } from './record.sql.js';

export type Refusal = Omit<RefusalRow, 'id' | 'age' | 'count'>;

const MINUTE = 60_000;
/** Rows of one key in a minute; further refusals are counted in one row (reference §14). */
const OF_A_KEY = 60;
/** Rows of the queue at most, some megabytes: while the database is away, further refusals are only counted. */
const ROOM = 10_000;
const BATCH = 500;
/** A database that is frozen must not keep the process from ending. Milliseconds. */
const PATIENCE = 2_000;
/** The action of a row that counts several refusals. */
export const MANY = 'request.many';

interface Counter {
  since: number;
  rows: number;
  more: number;
  /** Whose key it is. */
  key: Pick<Refusal, 'workspaceId' | 'actorId' | 'keyId'>;
}

/**
 * Queues refusals for the audit log. A refused request only adds its refusal to this queue in memory, after the answer. Each process
 * writes its queue every second and when it stops. A process that is killed loses those of its last second.
 */
@Injectable()
export class Refusals implements OnApplicationShutdown {
  private readonly logger = new Logger(Refusals.name);
  /** `at` in milliseconds of `performance.now()`. */
  private queue: (Omit<RefusalRow, 'age'> & { at: number })[] = [];
  private readonly counters = new Map<string, Counter>();
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly database: Database) {}

  add(refusal: Refusal): void {
    const at = performance.now();
    const { workspaceId, actorId, keyId } = refusal;
    const counter = this.counters.get(keyId) ?? { since: at, rows: 0, more: 0, key: { workspaceId, actorId, keyId } };
    this.counters.set(keyId, counter);
    if (counter.rows < OF_A_KEY && this.queue.length < ROOM) {
      counter.rows += 1;
      this.queue.push({ ...refusal, id: newId(), at, count: 1 });
    } else counter.more += 1;
  }

  /** Before the connections are closed: the database's module is global, so its hooks come last. */
  async onApplicationShutdown(): Promise<void> {
    this.count(Number.POSITIVE_INFINITY);
    await this.write().catch((error: unknown) =>
      this.logger.warn(`The last refusals are not in the audit log: ${String(error)}`),
    );
  }

  /** Writes the queue. Rejects when the database refuses; what is not written stays in the queue. */
  @Chore({ every: 1_000 })
  write(): Promise<void> {
    this.count(performance.now() - MINUTE);
    const written = this.writing.then(() => this.writeQueue());
    this.writing = written.catch(() => undefined);
    return written;
  }

  /** Ends the minutes that began before this moment: refusals of a key without rows of their own become one row. */
  private count(before: number): void {
    for (const [keyId, { since, more, key }] of this.counters) {
      if (since > before) continue;
      this.counters.delete(keyId);
      const nothing = { address: null, targetType: null, targetId: null, code: null, requestId: null };
      if (more > 0)
        this.queue.push({ ...nothing, ...key, action: MANY, id: newId(), at: performance.now(), count: more });
    }
  }

  private async writeQueue(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, BATCH);
      const now = performance.now();
      const rows = batch.map(({ at, ...row }) => ({ ...row, age: (now - at) / 1000 }));
      try {
        await this.database.work.run(REFUSALS({ rows }), PATIENCE);
      } catch (error) {
        this.queue.unshift(...batch);
        throw error;
      }
    }
  }
}
