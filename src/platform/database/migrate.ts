import { DataSource, type MigrationInterface } from 'typeorm';
import { LOCKS } from './locks.js';

/** Migrations of an extension. A table of their own says which have run: each history is complete by itself. */
export interface MigrationSet {
  table: string;
  migrations: readonly (new () => MigrationInterface)[];
}

/** Runs what is not yet run, the service's own first, under a lock, so that processes that boot together do it once. */
export async function migrate(dataSource: DataSource, further: readonly MigrationSet[] = []): Promise<void> {
  await underLock(dataSource, async () => {
    await dataSource.runMigrations({ transaction: 'each' });
    for (const set of further) await migrateSet(dataSource, set);
  });
}

/** As {@link migrate}, with these histories alone: for a database that is to become what another one was. */
export async function migrateSets(dataSource: DataSource, sets: readonly MigrationSet[]): Promise<void> {
  await underLock(dataSource, async () => {
    for (const set of sets) await migrateSet(dataSource, set);
  });
}

async function underLock(dataSource: DataSource, work: () => Promise<void>): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [LOCKS.migrations]);
    await work();
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [LOCKS.migrations]).catch(() => undefined);
    await runner.release();
  }
}

async function migrateSet({ options }: DataSource, { table, migrations }: MigrationSet): Promise<void> {
  const own = new DataSource({ ...options, migrations: [...migrations], migrationsTableName: table });
  await own.initialize();
  try {
    await own.runMigrations({ transaction: 'each' });
  } finally {
    await own.destroy();
  }
}
