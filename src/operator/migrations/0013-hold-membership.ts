import type { MigrationInterface, QueryRunner } from 'typeorm';
import { HOLD_MEMBERSHIP } from '../../access/auth/hold-membership.function.js';

/** The lock that every write of a request begins with (reference §3). */
export class HoldMembership1795564800013 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(HOLD_MEMBERSHIP);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}
