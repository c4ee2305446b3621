import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One index of the runs that wait (reference §5). */
export class OneQueueIndex1795392000010 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(SQL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}

const SQL = `
-- Before runs_waiting (migration 0007) new work was looked for by its age. A plan that was made while nothing waited took
-- either index for empty, and could sort the whole queue at each look.
DROP INDEX runs_queued;
`;
