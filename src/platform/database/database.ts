import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { ReadPool } from './read-pool.js';
import type { Query, Sql } from './sql.js';

/** How long a write of a worker waits for a lock, in milliseconds, before another one has its connection. */
const SLICE_MS = 500;

/** A pool for single statements, each a transaction of its own. */
export class StatementPool implements Sql {
  constructor(readonly pool: pg.Pool) {}

  /** @param timeoutMs how long the answer may take; `connectionOptions` has what holds without it. */
  async run<Row>(query: Query<Row>, timeoutMs?: number): Promise<Row[]> {
    if (timeoutMs === undefined) return query.rowsOf(await this.pool.query(query));
    const { name, text, values } = query;
    return query.rowsOf(await this.pool.query({ name, text, values, query_timeout: timeoutMs } as pg.QueryConfig));
  }

  /** A connection for several statements. The caller releases it. */
  connect(): Promise<pg.PoolClient> {
    return this.pool.connect();
  }

  query<T extends pg.QueryResultRow>(query: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult<T>> {
    return this.pool.query<T>(query, values);
  }

  end(): Promise<void> {
    return this.pool.end();
  }
}

/**
 * The connections of one process, in pools of their own so that nothing that waits for a connection holds another of the same
 * pool (forty requests on one pool of ten were seen to hang for ever): TypeORM's for the transactions of requests, `read` for
 * single statements of requests (credentials, reads), `work` for what workers record and for tickers. What keeps runs going
 * must not stand behind what waits for locked tasks (docs/decisions/0019).
 */
@Injectable()
export class Database {
  readonly read: ReadPool;
  /** Waits for a lock half a second, then serves the next; RunRecorder asks again. */
  readonly work: StatementPool;
  /** For claims. Waits for a lock less long than RunClaims for the answer: a claim that was given up here would be carried out there, for nobody. */
  readonly claims: StatementPool;
  /** For the looks of the reconciler, which skip what is locked, and for runs that are handed back. */
  readonly polling: StatementPool;
  /** For renewals, which skip it too. Of nobody else: of connections that a network has cut without a word each costs a beat. */
  readonly leases: StatementPool;

  constructor(readonly url: string) {
    this.read = new ReadPool(pool(url, 'millwright read', 8, { pipeline: true }));
    this.work = new StatementPool(pool(url, 'millwright work', 10, { lock_timeout: SLICE_MS }));
    this.claims = new StatementPool(pool(url, 'millwright claims', 4, { lock_timeout: SLICE_MS }));
    this.polling = new StatementPool(pool(url, 'millwright polling', 3));
    this.leases = new StatementPool(pool(url, 'millwright leases', 2));
  }

  async close(): Promise<void> {
    await Promise.all([this.read, this.work, this.claims, this.polling, this.leases].map((one) => one.end()));
  }
}

/** What every connection of the service is opened with; times in milliseconds. */
export function connectionOptions(url: string, name: string) {
  return {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    statement_timeout: 30_000,
    // A connection that was cut without a word answers nothing, not even that time-out: this one runs on our side.
    query_timeout: 35_000,
    // A stopped process must not hold row locks for ever: it would block the takeover of its runs.
    idle_in_transaction_session_timeout: 15_000,
  };
}

function pool(url: string, name: string, max: number, more: object = {}): pg.Pool {
  const made = new pg.Pool({ ...connectionOptions(url, name), max, ...more });
  // A dropped idle connection is replaced at the next use; without a listener it would end the process.
  made.on('error', () => undefined);
  // So would one that is lost while somebody has it for a transaction. Their query is rejected all the same.
  made.on('connect', (client) => client.on('error', () => undefined));
  return made;
}
