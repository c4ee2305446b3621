import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The payloads of a connection that wait for a worker, to be summed up before one more is taken (docs/operating.md, Walls). */
export class WaitingPayloads1796428800023 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('CREATE INDEX hook_deliveries_waiting ON hook_deliveries (connection_id) WHERE payload IS NOT NULL');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}
