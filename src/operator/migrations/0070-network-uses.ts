import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What the commands of tasks did with hosts (reference §4). */
export class NetworkUses1798245800070 extends ForwardMigration {
  readonly sql = `
CREATE TABLE network_uses (
  task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  host text NOT NULL,
  port integer NOT NULL,
  connections bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  refused_for text,
  bytes_in bigint NOT NULL DEFAULT 0,
  bytes_out bigint NOT NULL DEFAULT 0,
  first_at timestamptz(3) NOT NULL,
  last_at timestamptz(3) NOT NULL,
  PRIMARY KEY (task_id, host, port)
);
`;
}
