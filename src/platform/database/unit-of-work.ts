import type { ClientBase } from 'pg';
import { type EntityManager, QueryRunnerAlreadyReleasedError } from 'typeorm';
import type { PipelinedClient, Plain } from './pipelined-client.js';
import type { Query, Sql } from './sql.js';

/**
 * One transaction, of a writing request or of an operator's verb. Handlers use only this for the database: a handler that takes a second connection
 * while it is open deadlocks a pool of ten under forty requests. For cold, plain writes `manager` gives TypeORM's repositories.
 */
export class UnitOfWork implements Sql {
  private readonly waiting: (() => void)[] = [];
  /** The span of the transaction, for what goes on after it in another process (W3C Trace Context); null while tracing is off. */
  traceparent: string | null = null;

  constructor(readonly manager: EntityManager) {}

  /** Runs a statement in the transaction. On the driver's connection, because TypeORM names no statement. */
  async run<Row>(query: Query<Row>): Promise<Row[]> {
    const client = (await this.client()) as unknown as ClientBase;
    return query.rowsOf(await client.query(query));
  }

  /**
   * Sends a statement in one write with the next one, or with the commit. Its rows are dropped. If it fails, the statement that
   * it travels with fails with its error. Its values are text, numbers, booleans or null.
   */
  async runWithNext({ name, text, values }: Query<never>): Promise<void> {
    (await this.client()).hold({ name, text, values: values as Plain[] });
  }

  /** Throws when the transaction is over, or its connection lost. */
  private async client(): Promise<PipelinedClient> {
    const runner = this.manager.queryRunner;
    if (runner === undefined || runner.isReleased) throw new QueryRunnerAlreadyReleasedError();
    return (await runner.connect()) as PipelinedClient;
  }

  /** Runs `work` once after the commit and before the answer; never when the transaction fails. It must not throw. */
  afterCommit(work: () => void): void {
    this.waiting.push(work);
  }

  /** Called by `Transactions` after the commit. */
  committed(): void {
    for (const work of this.waiting.splice(0)) work();
  }
}
