import type { MigrationInterface, QueryRunner } from 'typeorm';
import { EVENT_OF_UPDATE } from '../../resources/tasks/events/record-task-event.function.js';

/** What the run of a task waits for (reference §4, docs/decisions/0074). */
export class Waits1797724800038 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE tasks ADD COLUMN waiting_for jsonb');
    await db.query(EVENT_OF_UPDATE);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}
