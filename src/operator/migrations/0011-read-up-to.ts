import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a message that sets a cancelled or failed task going again is read with (reference §5). */
export class ReadUpTo1795478400011 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(SQL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}

const SQL = `
-- With read_all: the seq of the message that last set the task going again. The turn that it starts reads what waits up to
-- there; what is sent after it waits for a turn of its own. Null in a task that was set going before there was this column.
ALTER TABLE tasks ADD COLUMN read_upto int;
`;
