import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What a model reads of a result beside its output (reference §15, docs/decisions/0047). */
export class ResultsForModels1796774400027 extends ForwardMigration {
  readonly sql = 'ALTER TABLE tool_invocations ADD COLUMN for_model jsonb';
}
