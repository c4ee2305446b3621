import type { DataSource } from 'typeorm';

// Any fixed number: the lock's name, shared by every process that boots on one database.
const MIGRATION_LOCK = 7_163_001;

/** Runs what is not yet run, under a lock, so that processes that boot together do it once. */
export async function migrate(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await dataSource.runMigrations({ transaction: 'each' });
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await runner.release();
  }
}
