import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** The tools of servers as the model of a task is offered them (reference §28). */
export class McpOffers1798247600090 extends ForwardMigration {
  readonly sql = `
CREATE TABLE mcp_offers (
  task_id uuid PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
  offer json NOT NULL
);
`;
}
