import { ForwardMigration } from '../../platform/database/forward-migration.js';

/**
 * Whether agents of a task may read pages of the web (reference §27). Tasks that are there do not: who made them did not know of it. Nor do those that a
 * process of the version before makes.
 */
export class Web1798246500077 extends ForwardMigration {
  readonly sql = `
ALTER TABLE tasks ADD COLUMN web boolean NOT NULL DEFAULT false;
ALTER TABLE automations ADD COLUMN web boolean;
`;
}
