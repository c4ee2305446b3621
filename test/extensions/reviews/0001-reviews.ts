import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The number in the name is the time in milliseconds: TypeORM runs migrations in its order. */
export class Reviews1795564800001 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE reviews (
        id uuid PRIMARY KEY,
        workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
        created_by uuid NOT NULL REFERENCES users,
        rating int NOT NULL,
        text text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX reviews_page ON reviews (task_id, created_at DESC, id DESC);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only.'));
  }
}
