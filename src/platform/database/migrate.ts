import type { DataSource } from 'typeorm';
import { LOCKS } from './locks.js';

/** Runs what is not yet run, under a lock, so that processes that boot together do it once. */
export async function migrate(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [LOCKS.migrations]);
    await dataSource.runMigrations({ transaction: 'each' });
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [LOCKS.migrations]).catch(() => undefined);
    await runner.release();
  }
}
