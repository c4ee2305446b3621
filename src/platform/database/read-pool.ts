import type pg from 'pg';
import type { PipelinedClient } from './pipelined-client.js';
import type { Query, Sql } from './sql.js';

/** How many statements share a connection: so many at most wait for a slow one among them. */
const TOGETHER = 8;

interface Waiting {
  query: pg.QueryConfig;
  resolve: (result: pg.QueryResult) => void;
  reject: (error: unknown) => void;
}

/**
 * A pool for single statements that only read. Those of one turn of the event loop travel together: under load one write
 * carries several. Without it a GET of a task takes 1.3 to 1.7 of its CPU, and 1.8 to 2.2 of PostgreSQL's (docs/decisions/0018).
 * A single one goes out as soon as it would from any pool. Never for statements that lock: those behind them would wait.
 */
export class ReadPool implements Sql {
  private waiting: Waiting[] = [];

  /** @param pool of {@link PipelinedClient}s. */
  constructor(private readonly pool: pg.Pool) {}

  async run<Row>(query: Query<Row>): Promise<Row[]> {
    const answer = new Promise<pg.QueryResult>((resolve, reject) => {
      this.waiting.push({ query, resolve, reject });
      if (this.waiting.length === 1) setImmediate(() => this.send());
    });
    return query.rowsOf(await answer);
  }

  end(): Promise<void> {
    return this.pool.end();
  }

  private send(): void {
    const all = this.waiting;
    this.waiting = [];
    for (let from = 0; from < all.length; from += TOGETHER) void this.together(all.slice(from, from + TOGETHER));
  }

  /** Each is answered or fails by itself; when the connection is lost, all do. */
  private async together(statements: Waiting[]): Promise<void> {
    let client: pg.PoolClient;
    try {
      client = await this.pool.connect();
    } catch (error) {
      for (const { reject } of statements) reject(error);
      return;
    }
    let failed = false;
    const answer = async ({ query, resolve, reject }: Waiting): Promise<void> => {
      try {
        resolve(await client.query(query));
      } catch (error) {
        failed = true;
        reject(error);
      }
    };
    await (client as unknown as PipelinedClient).corked(() => Promise.all(statements.map(answer)));
    // As the pool's own `query` does: after an error the connection may be on its way out.
    client.release(failed);
  }
}
