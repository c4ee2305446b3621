import type { DataSource, MigrationInterface } from 'typeorm';
import { LOCKS } from './locks.js';

/** The service's own migrations, or an extension's. A table of their own says which have run: each history is complete by itself. */
export interface MigrationSet {
  table: string;
  migrations: readonly (new () => MigrationInterface)[];
}

/**
 * Runs what is not yet run, in this order, under a lock, so that processes that boot together do it once.
 * @param dataSource one that is for this alone: it has the last of the histories afterwards.
 */
export async function migrate(dataSource: DataSource, sets: readonly MigrationSet[]): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [LOCKS.migrations]);
    for (const { table, migrations } of sets) {
      // TypeORM has one history for each data source, and a further source costs a boot its own connection.
      dataSource.setOptions({ migrationsTableName: table });
      Object.assign(dataSource, { migrations: migrations.map((Migration) => new Migration()) });
      await dataSource.runMigrations({ transaction: 'each' });
    }
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [LOCKS.migrations]).catch(() => undefined);
    await runner.release();
  }
}
