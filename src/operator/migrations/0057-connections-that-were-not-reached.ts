import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** A test that does not reach the host says so, and leaves the standing of the credential as it was (reference §15). */
export class ConnectionsThatWereNotReached1798244500057 extends ForwardMigration {
  readonly sql = `
ALTER TABLE repository_connections DROP CONSTRAINT repository_connections_check;
ALTER TABLE repository_connections ADD CONSTRAINT repository_connections_check CHECK (status = 'ready' OR last_error IS NOT NULL);
`;
}
