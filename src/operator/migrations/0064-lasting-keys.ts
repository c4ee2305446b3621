import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Keys that stay what they are when `SECRET_KEY` is changed (docs/decisions/0097). Its first change writes them. */
export class LastingKeys1798245200064 extends ForwardMigration {
  readonly sql = `
      CREATE TABLE lasting_keys (
        purpose text PRIMARY KEY,
        key bytea NOT NULL
      );
    `;
}
