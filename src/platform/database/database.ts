import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { PipelinedClient } from './pipelined-client.js';
import { ReadPool } from './read-pool.js';
import type { Query, Sql } from './sql.js';

/** How long a write of a worker waits for a lock, in milliseconds, before another one has its connection. */
const SLICE_MS = 500;

/**
 * For statements that find their rows by ids: values change nothing of their plans. By itself the server plans such a statement anew at its first five
 * calls on each connection, and some at every call: 1.1 ms of each task were plans of the look at the queue.
 */
const PLANNED_ONCE = '-c plan_cache_mode=force_generic_plan';

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

  end(): Promise<void> {
    return this.pool.end();
  }
}

/**
 * The connections of one process. Each purpose has a pool of its own, so that no statement waits for a connection that its own
 * caller holds (forty requests on one pool of ten hung for ever). TypeORM's pool serves the transactions of requests, `read`
 * single statements of requests (credentials, reads), `work` what workers record. Renewals, claims and polling have their own,
 * because they must not wait behind writes to locked tasks (docs/decisions/0019).
 */
@Injectable()
export class Database {
  readonly read: ReadPool;
  /** A statement waits for a lock half a second, then the connection serves the next one; the RunRecorder asks again. */
  readonly work: StatementPool;
  /**
   * For claims. PostgreSQL gives up waiting for a lock before RunClaims gives up waiting for the answer: else it would carry
   * out a claim that no worker knows of.
   */
  readonly claims: StatementPool;
  /** For the reconciler, whose statements skip what is locked, and for runs that are handed back. */
  readonly polling: StatementPool;
  /** For reads that may take a second: in `read` up to seven others share a connection with each. */
  readonly reports: StatementPool;
  /** For what streams of events read: at most so many batches of a quarter of a MiB are under way at once. */
  readonly events: StatementPool;
  /** For renewals alone, which skip what is locked too. A connection that the network has cut silently costs a renewal its turn. */
  readonly leases: StatementPool;

  constructor(readonly url: string) {
    this.read = new ReadPool(pool(url, 'millwright read', 12, { Client: PipelinedClient as never }));
    this.work = new StatementPool(pool(url, 'millwright work', 10, { lock_timeout: SLICE_MS }));
    this.claims = new StatementPool(
      pool(url, 'millwright claims', 4, { lock_timeout: SLICE_MS, options: PLANNED_ONCE }),
    );
    this.polling = new StatementPool(pool(url, 'millwright polling', 3, { options: PLANNED_ONCE }));
    this.reports = new StatementPool(pool(url, 'millwright reports', 2));
    // A batch is planned in 3 ms and read in a quarter of one, while a client waits for its event.
    this.events = new StatementPool(pool(url, 'millwright events', 4, { options: PLANNED_ONCE }));
    this.leases = new StatementPool(pool(url, 'millwright leases', 2, { options: PLANNED_ONCE }));
  }

  async close(): Promise<void> {
    await Promise.all(
      [this.read, this.work, this.claims, this.polling, this.reports, this.events, this.leases].map((one) => one.end()),
    );
  }
}

/**
 * What every connection of the service is opened with; times in milliseconds.
 *
 * Its statements are short, and the planner's estimates for a long queue high: with `jit` PostgreSQL compiles each claim for
 * 230 ms and works on it for 18 (100,000 runs queued).
 *
 * @param options further settings of the session, as `-c name=value`. Those in the URL come last, and win: the driver would take
 * them in place of ours.
 */
export function connectionOptions(url: string, name: string, options = '') {
  const address = new URL(url);
  const theirs = address.searchParams.get('options') ?? '';
  address.searchParams.delete('options');
  return {
    connectionString: address.href,
    application_name: name,
    options: `-c jit=off ${options} ${theirs}`,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    statement_timeout: 30_000,
    // A connection that the network has cut silently brings no answer, not even that time-out. This one runs on our side.
    query_timeout: 35_000,
    // A stopped process must not hold row locks for ever: it would block the takeover of its runs.
    idle_in_transaction_session_timeout: 15_000,
  };
}

/** @param more in place of what {@link connectionOptions} has, and `options` beside its own. */
export function pool(url: string, name: string, max: number, { options, ...more }: pg.PoolConfig = {}): pg.Pool {
  const made = new pg.Pool({ ...connectionOptions(url, name, options), max, ...more });
  // A dropped idle connection is replaced at the next use; without a listener it would end the process.
  made.on('error', () => undefined);
  // So would a connection that is lost while a transaction has it. The transaction's query is rejected all the same.
  made.on('connect', (client) => client.on('error', () => undefined));
  return made;
}
