import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Which machines work, and which of them has the folder of a task (reference §23, docs/decisions/0093). */
export class Machines1798244800060 extends ForwardMigration {
  readonly sql = [
    `
CREATE TABLE workers (
  id uuid PRIMARY KEY,
  machine_id uuid NOT NULL,
  host text NOT NULL,
  places int NOT NULL,
  version text NOT NULL,
  draining boolean NOT NULL DEFAULT false,
  seen_at timestamptz(3) NOT NULL DEFAULT now()
);

ALTER TABLE tasks ADD COLUMN machine_id uuid;
`,
  ];
}
