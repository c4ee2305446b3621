import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The JSON Schema that the answers of a task have to fit, and the JSON of the last one. Both are `json`: `jsonb` changes the
 * order of keys, and writes 1e308 with 309 digits. Columns without a default: no row is rewritten.
 */
export class StructuredOutput1797552000036 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE tasks ADD COLUMN output_schema json, ADD COLUMN result_output json');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Forward only.'));
  }
}
