import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Pictures and documents that results show to models are files that no client sees (docs/decisions/0054). */
export class ShownFiles1796947200029 extends ForwardMigration {
  readonly sql = `
ALTER TABLE files DROP CONSTRAINT files_origin_check,
  ADD CONSTRAINT files_origin_check CHECK (origin IN ('attachment', 'task', 'project', 'shown'));
`;
}
