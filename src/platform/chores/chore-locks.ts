import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../database/database.js';

interface LockConnection {
  client: Promise<PoolClient>;
  /** One for each chore that uses it: what to do when it is lost. */
  onLost: Set<() => void>;
  broken: boolean;
  ended: () => void;
  /** The statement that was sent last. */
  last: Promise<unknown>;
}

/**
 * The locks of this process's chores. One connection of the workers' pool holds all of them, so that nine of ten stay free for
 * the recorder. The process acquires the connection with the first lock and releases it with the last. A lock needs no
 * transaction: PostgreSQL ends a transaction that is idle for 15 s (docs/decisions/0021).
 */
@Injectable()
export class ChoreLocks {
  private current: LockConnection | null = null;

  constructor(private readonly database: Database) {}

  /**
   * Does `work` while this process holds the lock; resolves with null, doing nothing, when another process holds it. The caller
   * does not ask for a lock that it has itself: PostgreSQL would give it again. `onLost` is called when the lock is lost.
   */
  async withLock<T>(lock: number, onLost: () => void, work: () => Promise<T>): Promise<T | null> {
    const connection = (this.current ??= this.connect());
    connection.onLost.add(onLost);
    try {
      if (!(await this.ask(connection, 'SELECT pg_try_advisory_lock($1) AS yes', lock))) return null;
      try {
        return await work();
      } finally {
        await this.ask(connection, 'SELECT pg_advisory_unlock($1) AS yes', lock).catch(() => undefined);
      }
    } finally {
      connection.onLost.delete(onLost);
      if (connection.onLost.size === 0) await this.release(connection);
    }
  }

  private connect(): LockConnection {
    const client = this.database.work.connect();
    const connection: LockConnection = {
      client,
      onLost: new Set(),
      broken: false,
      ended: () => this.lose(connection),
      last: Promise.resolve(),
    };
    client.then(
      (connected) => connected.once('end', connection.ended),
      () => undefined,
    );
    return connection;
  }

  private async ask(connection: LockConnection, question: string, lock: number): Promise<boolean> {
    // One statement after the other: pg 9 will not queue them for us.
    const asked = connection.last.then(async () => (await connection.client).query<{ yes: boolean }>(question, [lock]));
    connection.last = asked.catch(() => undefined);
    try {
      return (await asked).rows[0]?.yes === true;
    } catch (error) {
      this.lose(connection);
      throw error;
    }
  }

  /** No further lock is asked for on this connection. Closing it releases the locks that it may still have. */
  private lose(connection: LockConnection): void {
    connection.broken = true;
    if (this.current === connection) this.current = null;
    for (const notify of connection.onLost) notify();
  }

  private async release(connection: LockConnection): Promise<void> {
    if (this.current === connection) this.current = null;
    const client = await connection.client.catch(() => null);
    client?.off('end', connection.ended);
    client?.release(connection.broken);
  }
}
