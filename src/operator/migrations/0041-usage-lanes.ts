import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counters of usage in lanes (docs/decisions/0038). What was counted until now is lane 0. */
export class UsageLanes1797984000041 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE usage_days ADD COLUMN lane smallint NOT NULL DEFAULT 0;
      ALTER TABLE usage_days DROP CONSTRAINT usage_days_pkey;
      ALTER TABLE usage_days ADD PRIMARY KEY (workspace_id, day, lane);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}
