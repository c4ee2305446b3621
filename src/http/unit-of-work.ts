import type { EntityManager } from 'typeorm';

/**
 * The one transaction of a writing request: a short straight line that ends in a commit. Handlers use
 * only this for the database: a second connection taken while it is open deadlocks a pool of ten under forty requests.
 */
export class UnitOfWork {
  private readonly waiting: (() => void)[] = [];

  constructor(readonly manager: EntityManager) {}

  /** Runs SQL in the transaction; resolves with its rows, those of `RETURNING` too. */
  async query<T>(sql: string, parameters: unknown[] = []): Promise<T[]> {
    const result = await this.manager.query<T[] | [T[], number]>(sql, parameters);
    // TypeORM answers an UPDATE or DELETE with `[rows, count]`; a row is never an array.
    const [rows] = result;
    return Array.isArray(rows) ? rows : (result as T[]);
  }

  /** Runs `work` once after the commit and before the answer; never when the transaction fails. It must not throw. */
  afterCommit(work: () => void): void {
    this.waiting.push(work);
  }

  /** For whoever opened the transaction. */
  committed(): void {
    for (const work of this.waiting.splice(0)) work();
  }
}
