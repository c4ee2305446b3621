import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Pictures and documents that results show to models are files that no client sees (docs/decisions/0054). */
export class ShownFiles1796947200029 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(SQL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}

const SQL = `
ALTER TABLE files DROP CONSTRAINT files_origin_check,
  ADD CONSTRAINT files_origin_check CHECK (origin IN ('attachment', 'task', 'project', 'shown'));
`;
