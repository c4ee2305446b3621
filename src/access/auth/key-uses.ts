import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { doubles, sql, uuids } from '../../platform/database/sql.js';

const MINUTE = 60_000;
/** A database that is frozen must not keep the process from ending. */
const PATIENCE_MS = 2_000;

// By the database's clock, as all times of keys: a process says how long ago. In one order, for several processes write the
// same keys. Another process may have written a later use.
const WRITE = sql`
WITH used AS (
  SELECT id, clock_timestamp() - make_interval(secs => age) AS at
  FROM unnest(${uuids('ids')}, ${doubles('ages')}) AS u(id, age)),
held AS (
  SELECT k.id, used.at FROM api_keys k JOIN used ON used.id = k.id
  WHERE k.last_used_at IS NULL OR k.last_used_at < used.at ORDER BY k.id FOR NO KEY UPDATE OF k)
UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, held.at) FROM held WHERE k.id = held.id`.rows();

/**
 * When each key was last used. A request only notes it in memory, so it asks the database nothing more; one statement a minute
 * writes the notes of a process, and one at its stop. A process that is killed takes its last minute with it.
 */
@Injectable()
export class KeyUses implements OnApplicationShutdown {
  private readonly logger = new Logger(KeyUses.name);
  /** By the id of the key, in milliseconds of `performance.now()`. */
  private noted = new Map<string, number>();
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly database: Database) {}

  note(keyId: string): void {
    this.noted.set(keyId, performance.now());
  }

  /** After the last request, and before the connections are closed: the database's module is global, so its hooks come last. */
  async onApplicationShutdown(): Promise<void> {
    await this.write().catch((error: unknown) =>
      this.logger.warn(`The last uses of keys were not written: ${String(error)}`),
    );
  }

  /** Writes what is noted. Rejects when it cannot be written; it then waits for the next time. */
  @Chore({ every: MINUTE })
  write(): Promise<void> {
    const written = this.writing.then(() => this.writeNotes());
    this.writing = written.catch(() => undefined);
    return written;
  }

  private async writeNotes(): Promise<void> {
    const uses = this.noted;
    if (uses.size === 0) return;
    this.noted = new Map();
    const now = performance.now();
    const ages = [...uses.values()].map((at) => (now - at) / 1000);
    try {
      await this.database.work.run(WRITE({ ids: [...uses.keys()], ages }), PATIENCE_MS);
    } catch (error) {
      this.noted = new Map([...uses, ...this.noted]);
      throw error;
    }
  }
}
