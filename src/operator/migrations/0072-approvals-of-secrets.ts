import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Tasks that ask before the first use of each secret (reference §24, docs/decisions/0099). */
export class ApprovalsOfSecrets1798246000072 extends ForwardMigration {
  readonly sql = `
ALTER TABLE tasks DROP CONSTRAINT tasks_approvals_check,
  ADD CONSTRAINT tasks_approvals_check CHECK (approvals IN ('none', 'writes', 'secrets'));
ALTER TABLE automations DROP CONSTRAINT automations_approvals_check,
  ADD CONSTRAINT automations_approvals_check CHECK (approvals IN ('none', 'writes', 'secrets'));

-- What a yes to an approval adds to the approved_tools of the task. Null: nothing, unless the person says to remember the tool.
ALTER TABLE interactions ADD COLUMN grants text;
`;
}
