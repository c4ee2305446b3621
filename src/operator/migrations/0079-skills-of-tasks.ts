import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** The skills that a task has, and those that the tasks of an automation begin with (reference §27). */
export class SkillsOfTasks1798246700079 extends ForwardMigration {
  readonly sql = `
ALTER TABLE tasks ADD COLUMN skills jsonb NOT NULL DEFAULT '[]';
ALTER TABLE automations ADD COLUMN skills text[];
`;
}
