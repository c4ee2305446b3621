import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import { REFUSALS, type RefusalRow } from './record.sql.js';

export type Refusal = Omit<RefusalRow, 'id' | 'age' | 'count'>;

const MINUTE = 60_000;
/** Rows of one key in a minute; what is more is counted in one row (reference §14). */
const OF_A_KEY = 60;
/** Rows that wait in memory at most, some megabytes: while the database is away the rest is counted. */
const ROOM = 10_000;
const BATCH = 500;
/** A database that is frozen must not keep the process from ending. Milliseconds. */
const PATIENCE = 2_000;
/** What stands in place of the action for those that are counted together. */
export const MANY = 'request.many';

interface Counter {
  since: number;
  rows: number;
  more: number;
  /** Whose key it is. */
  key: Pick<Refusal, 'workspaceId' | 'actorId' | 'keyId'>;
}

/**
 * Refusals on their way into the audit log. A refused request only notes its refusal in memory, after the answer; one statement a
 * second writes the notes of a process, and one at its stop. A process that is killed takes those of its last second with it.
 */
@Injectable()
export class Refusals implements OnApplicationShutdown {
  private readonly logger = new Logger(Refusals.name);
  /** `at` in milliseconds of `performance.now()`. */
  private waiting: (Omit<RefusalRow, 'age'> & { at: number })[] = [];
  private readonly counters = new Map<string, Counter>();
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly database: Database) {}

  note(refusal: Refusal): void {
    const at = performance.now();
    const { workspaceId, actorId, keyId } = refusal;
    const counter = this.counters.get(keyId) ?? { since: at, rows: 0, more: 0, key: { workspaceId, actorId, keyId } };
    this.counters.set(keyId, counter);
    if (counter.rows < OF_A_KEY && this.waiting.length < ROOM) {
      counter.rows += 1;
      this.waiting.push({ ...refusal, id: newId(), at, count: 1 });
    } else counter.more += 1;
  }

  /** Before the connections are closed: the database's module is global, so its hooks come last. */
  async onApplicationShutdown(): Promise<void> {
    this.count(Number.POSITIVE_INFINITY);
    await this.write().catch((error: unknown) =>
      this.logger.warn(`The last refusals are not in the audit log: ${String(error)}`),
    );
  }

  /** Writes what is noted. Rejects when it cannot be written; it then waits for the next time. */
  @Chore({ every: 1_000 })
  write(): Promise<void> {
    this.count(performance.now() - MINUTE);
    const written = this.writing.then(() => this.writeNotes());
    this.writing = written.catch(() => undefined);
    return written;
  }

  /** Ends the minutes that began before this moment: what has no row of its own becomes one. */
  private count(before: number): void {
    for (const [keyId, { since, more, key }] of this.counters) {
      if (since > before) continue;
      this.counters.delete(keyId);
      const nothing = { address: null, targetType: null, targetId: null, code: null, requestId: null };
      if (more > 0)
        this.waiting.push({ ...nothing, ...key, action: MANY, id: newId(), at: performance.now(), count: more });
    }
  }

  private async writeNotes(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, BATCH);
      const now = performance.now();
      const rows = batch.map(({ at, ...row }) => ({ ...row, age: (now - at) / 1000 }));
      try {
        await this.database.work.run(REFUSALS({ rows }), PATIENCE);
      } catch (error) {
        this.waiting.unshift(...batch);
        throw error;
      }
    }
  }
}
