import type { TestApp } from './app.js';
import type { Member } from './client.js';

export interface Act {
  action: string;
  type: string | null;
  id: string | null;
  outcome: string;
}

/** What a member did in its workspace, by the audit log, the oldest first. */
export function acts({ db }: TestApp, { workspace, user }: Member): Promise<Act[]> {
  return db.query<Act>(
    `SELECT action, target_type AS type, target_id AS id, outcome FROM audit_log
     WHERE workspace_id = $1 AND actor_id = $2 ORDER BY at, id`,
    [workspace.id, user.id],
  );
}
