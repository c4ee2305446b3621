import type { MigrationInterface, QueryRunner } from 'typeorm';

/** To which trace a run belongs (reference §16). */
export class Traces1795824300021 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(SQL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}

const SQL = `
-- The span of the transaction that made the run (W3C Trace Context); null while tracing is off, and for a run that no request
-- made.
ALTER TABLE runs ADD COLUMN traceparent text;
`;
