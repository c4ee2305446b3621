import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** The tool that an approval is about, which another name may call (reference §28). */
export class ToolsOfApprovals1798247700091 extends ForwardMigration {
  readonly sql = `
ALTER TABLE interactions ADD COLUMN tool text;
`;
}
