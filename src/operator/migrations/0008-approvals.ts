import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Tasks that ask before each command or file change (docs/decisions/0016). */
export class Approvals1764633600008 extends ForwardMigration {
  readonly sql = `
-- approved_tools: those that a person said need no more asking in this task.
ALTER TABLE tasks
  ADD COLUMN approvals text NOT NULL DEFAULT 'none' CHECK (approvals IN ('none', 'writes')),
  ADD COLUMN approved_tools text[] NOT NULL DEFAULT '{}';

-- How far a call has come in a task with approvals: a person has approved it; it has begun. Null: neither, and
-- always null in a task without approvals. Of a denied call, error holds the reason that the model is told.
ALTER TABLE tool_invocations ADD COLUMN stage text CHECK (stage IN ('approved', 'begun'));

-- What a person said, for the record.
ALTER TABLE interactions
  ADD COLUMN decision text CHECK (decision IN ('approve', 'deny')),
  ADD COLUMN reason text;
`;
}
