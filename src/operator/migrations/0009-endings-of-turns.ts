import type { MigrationInterface, QueryRunner } from 'typeorm';
import { WAITING_MESSAGE_STEERS } from '../../work/runs/waiting-message-steers.function.js';

/** A turn ends in one round trip (reference §5). */
export class EndingsOfTurns1795305600009 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(WAITING_MESSAGE_STEERS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}
