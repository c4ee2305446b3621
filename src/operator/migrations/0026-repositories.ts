import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The repository of a task, and what the last turn has made of it (reference §15). */
export class Repositories1796688000026 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE tasks ADD COLUMN repository jsonb, ADD COLUMN changes jsonb');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}
