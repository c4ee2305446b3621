// How a transaction of a request or of an operator's verb begins and ends: all writes outside of workers open it here.
import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { ClientBase } from 'pg';
import type { DataSource } from 'typeorm';
import type { Query, Sql } from './sql.js';
import { UnitOfWork } from './unit-of-work.js';

@Injectable()
export class Transactions implements Sql {
  private readonly logger = new Logger('Database');

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /**
   * Runs `work` in one transaction, commits it, then runs what waits for the commit, and resolves with the result of `work`.
   * Rejects with the error of `work` or of the commit; nothing is written then.
   */
  async open<T>(work: (tx: UnitOfWork) => Promise<T>): Promise<T> {
    const { tx, result } = await this.dataSource.transaction(async (manager) => {
      const tx = new UnitOfWork(manager);
      return { tx, result: await work(tx) };
    });
    this.committed(tx);
    return result;
  }

  /** One statement that is a transaction by itself: one round trip. */
  async run<Row>(query: Query<Row>): Promise<Row[]> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const client = (await runner.connect()) as ClientBase;
      return query.rowsOf(await client.query(query));
    } finally {
      await runner.release();
    }
  }

  private committed(tx: UnitOfWork): void {
    try {
      tx.committed();
    } catch (err) {
      // What is committed is committed: the answer must say so.
      this.logger.error({ reason: 'Work after a commit failed.', err });
    }
  }
}
