import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a model reads of a result beside its output (reference §15, docs/decisions/0047). */
export class ResultsForModels1796774400027 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE tool_invocations ADD COLUMN for_model jsonb');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}
