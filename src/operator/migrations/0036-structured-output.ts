import { ForwardMigration } from '../../platform/database/forward-migration.js';

/**
 * The JSON Schema that the answers of a task have to fit, and the JSON of the last one. Both are `json`: `jsonb` changes the
 * order of keys, and writes 1e308 with 309 digits. Columns without a default: no row is rewritten.
 */
export class StructuredOutput1797552000036 extends ForwardMigration {
  readonly sql = 'ALTER TABLE tasks ADD COLUMN output_schema json, ADD COLUMN result_output json';
}
