import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** The session in which an agent program works on a task (reference §30). */
export class EngineSessions1798334100092 extends ForwardMigration {
  readonly sql = `
ALTER TABLE tasks ADD COLUMN engine_session jsonb;
`;
}
