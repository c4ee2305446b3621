import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Which tasks have in their folders what no snapshot has (docs/decisions/0093), and how much a workspace stores that none names any more. */
export class FoldersAhead1798244900061 extends ForwardMigration {
  readonly sql = [
    `
ALTER TABLE tasks ADD COLUMN folder_ahead boolean NOT NULL DEFAULT false;
CREATE INDEX snapshot_objects_left ON snapshot_objects (workspace_id) WHERE unnamed_at IS NOT NULL;
`,
  ];
}
