import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Which repositories the tasks of a workspace worked on last. */
export class RepositoryList1798243300045 extends ForwardMigration {
  readonly sql = `CREATE INDEX tasks_repository ON tasks (workspace_id, created_at DESC) WHERE repository IS NOT NULL`;
}
