import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A migration that is SQL alone. Migrations are forward-only: what one has done, the restore of a backup takes back. */
export abstract class ForwardMigration implements MigrationInterface {
  /** One text of statements, or several that run one after the other. */
  abstract readonly sql: string | readonly string[];

  async up(db: QueryRunner): Promise<void> {
    for (const text of [this.sql].flat()) await db.query(text);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}
