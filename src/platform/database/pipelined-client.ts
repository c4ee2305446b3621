import type { Duplex } from 'node:stream';
import pg from 'pg';
import type { DataSource } from 'typeorm';

interface Client {
  query(...args: unknown[]): unknown;
  on(event: 'error', listener: () => void): unknown;
  pipeline: boolean;
  connection: { stream: Duplex & { bytesWritten: number } };
}
const PlainClient = pg.Client as unknown as new (config: object) => Client;

/**
 * A connection on which statements travel together, in one write and one wait for all: those of single reads (`ReadPool`), and in a
 * transaction one that nobody waits for with the next one. The start of a transaction does so by itself: its first statement carries
 * it, and a transaction without statements asks nothing. Without callbacks. What it brings stands in docs/decisions/0018.
 */
export class PipelinedClient extends PlainClient {
  private held: unknown[][] = [];

  constructor(config: object) {
    super(config);
    // The driver then sends without waiting for the answers that are still to come.
    this.pipeline = true;
    // A database that dies as it greets says so in the same packet. At that moment the pool has stopped listening and TypeORM
    // has not begun, and Node ends a process for an 'error' without a listener. The next query is rejected all the same.
    this.on('error', () => undefined);
  }

  /**
   * Sends a statement with the next one, which fails with its error if it fails. Its rows are dropped. Its values are plain:
   * one that the driver cannot write would fail here alone, and PostgreSQL would take the COMMIT behind it.
   */
  hold(statement: { name: string; text: string; values: Plain[] }): void {
    this.held.push([statement]);
  }

  /** Calls `send`, and lets what it sends go out in one write. */
  corked<T>(send: () => T): T {
    const { stream } = this.connection;
    stream.cork();
    try {
      return send();
    } finally {
      stream.uncork();
    }
  }

  /** What went out so far. */
  get bytes(): number {
    return this.connection.stream.bytesWritten;
  }

  override query(text: unknown, values?: unknown): unknown {
    if (text === START) {
      this.held = [[text]];
      return Promise.resolve(NOTHING);
    }
    if (text === 'COMMIT') return this.commit();
    if (this.held.length === 0) return super.query(text, values);
    const held = this.held.splice(0);
    if (text !== 'ROLLBACK') return this.together([...held, [text, values]]);
    return held[0]?.[0] === START ? Promise.resolve(NOTHING) : super.query(text);
  }

  /** Of a transaction in which a statement has failed PostgreSQL makes a rollback, and does not call that an error. */
  private async commit(): Promise<unknown> {
    const held = this.held.splice(0);
    if (held.length === 1 && held[0]?.[0] === START) return NOTHING;
    const answer = await this.together([...held, ['COMMIT']]);
    if ((answer as pg.QueryResult).command === 'ROLLBACK') throw new Error('Rolled back: a statement had failed.');
    return answer;
  }

  /** Resolves with the answer to the last. */
  private async together(statements: unknown[][]): Promise<unknown> {
    // One that fails aborts the transaction, so that PostgreSQL takes no COMMIT either; the first error is the reason.
    const answers = this.corked(() => Promise.all(statements.map((statement) => super.query(...statement))));
    return (await answers).at(-1);
  }
}

/** What the driver writes as it is. */
export type Plain = string | number | boolean | null;

// As TypeORM writes it.
const START = 'START TRANSACTION';
const NOTHING = { command: '', rowCount: 0, oid: 0, fields: [], rows: [] };

/**
 * Throws when the installed TypeORM begins and ends transactions with other words than the client looks for, or the installed driver
 * sends one statement after the other: everything would go on, slower and without a word.
 */
export async function checkPipelining(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    const client = (await runner.connect()) as PipelinedClient;
    const before = client.bytes;
    await runner.startTransaction();
    await runner.commitTransaction();
    await runner.startTransaction();
    await runner.rollbackTransaction();
    const knowsWords = client.bytes === before;
    const first = client.query('SELECT 1');
    const between = client.bytes;
    const second = client.query('SELECT 1');
    const pipelines = client.bytes > between;
    await Promise.all([first, second]);
    if (!knowsWords || !pipelines) throw new Error(`The installed ${knowsWords ? 'pg' : 'TypeORM'} ${UNKNOWN}`);
  } finally {
    await runner.release();
  }
}

const UNKNOWN =
  'sends transactions in another way than src/platform/database/pipelined-client.ts takes them. It has to follow.';
