import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What the processes of an installation know each other by (docs/decisions/0072). The next boot makes the row. */
export class Installation1798070400042 extends ForwardMigration {
  readonly sql = `
      CREATE TABLE installation (
        one boolean PRIMARY KEY DEFAULT true,
        mark uuid NOT NULL,
        secret_mark text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT installation_one_check CHECK (one)
      );
    `;
}
