import pg from 'pg';
import { type Connected, corked } from './corked.js';

interface Client extends Connected {
  query(...args: unknown[]): unknown;
  on(event: 'error', listener: () => void): unknown;
  pipeline: boolean;
}
const PlainClient = pg.Client as unknown as new (config: object) => Client;

/**
 * A connection on which a statement may travel with the next one, in one write and one wait for both. The start of a
 * transaction does so by itself: its first statement carries it, and a transaction without statements asks nothing. Of the
 * six round trips of a keyed write two go that way. For the pool whose connections are used for transactions; without
 * callbacks.
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

  override query(...args: unknown[]): unknown {
    const [text] = args;
    if (text === START) {
      this.held = [args];
      return Promise.resolve(NOTHING);
    }
    const held = this.held;
    this.held = [];
    const unstarted = held[0]?.[0] === START;
    if (unstarted && (text === 'ROLLBACK' || (text === 'COMMIT' && held.length === 1))) return Promise.resolve(NOTHING);
    if (text === 'COMMIT') return this.commit([...held, args]);
    if (held.length === 0 || text === 'ROLLBACK') return super.query(...args);
    return this.together([...held, args]);
  }

  /** Of a transaction in which a statement has failed PostgreSQL makes a rollback, and does not call that an error. */
  private async commit(statements: unknown[][]): Promise<unknown> {
    const answer = await this.together(statements);
    if ((answer as pg.QueryResult).command === 'ROLLBACK') throw new Error('Rolled back: a statement had failed.');
    return answer;
  }

  /** Resolves with the answer to the last. */
  private async together(statements: unknown[][]): Promise<unknown> {
    // One that fails aborts the transaction, so that PostgreSQL takes no COMMIT either; the first error is the reason.
    const answers = corked(this, () => Promise.all(statements.map((statement) => super.query(...statement))));
    return (await answers).at(-1);
  }
}

/** What the driver writes as it is. */
export type Plain = string | number | boolean | null;

// As TypeORM writes it.
const START = 'START TRANSACTION';
const NOTHING = { command: '', rowCount: 0, oid: 0, fields: [], rows: [] };
