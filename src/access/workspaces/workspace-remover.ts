import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';

/**
 * Deletes a part of what a feature has in a workspace that nobody can use any more, in a transaction of its own: so much
 * that it takes a moment. Resolves with how many there were; it is called again until there are none.
 */
export type EmptyingStep = (tx: UnitOfWork, workspaceId: string) => Promise<number>;

// In-flight requests of members hold their membership until they commit: after this there is none, and no new one.
const END_MEMBERS = `
WITH member AS (SELECT user_id FROM memberships WHERE workspace_id = $1 ORDER BY user_id FOR UPDATE)
DELETE FROM memberships m USING member WHERE m.workspace_id = $1 AND m.user_id = member.user_id`;

// Rows with no consequences, before the workspace's own row: its cascade would take all of them in one statement. Files
// come before projects, for each project's deletion looks for its files.
const rows = (table: string) => `
DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE workspace_id = $1 LIMIT 2000)) RETURNING 1`;
const ROWS = ['files', 'projects', 'uploads', 'idempotency_keys'].map(rows);
// One at a time: the database looks through whole tables for what refers to each.
const ACCOUNT = `DELETE FROM users WHERE id = (SELECT id FROM users WHERE service_of = $1 LIMIT 1) RETURNING 1`;

const LOCK = 'SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE';
const IN_USE = `
SELECT 1 FROM memberships WHERE workspace_id = $1 UNION ALL SELECT 1 FROM tasks WHERE workspace_id = $1 LIMIT 1`;
// Bytes are stored a moment before the row that points at them: after an hour nobody stores anything there any more.
const REMOVE_STORAGE = `
INSERT INTO folder_removals (kind, id, not_before) VALUES ('storage', $1, clock_timestamp() + interval '1 hour')
ON CONFLICT (kind, id) DO NOTHING`;
const DELETE = 'DELETE FROM workspaces WHERE id = $1';

/** Deletes workspaces with all that is in them, in short transactions; killed in between, the next call goes on. */
@Injectable()
export class WorkspaceRemover {
  private readonly steps: EmptyingStep[] = [
    ...[...ROWS, ACCOUNT].map((text) => async (tx: UnitOfWork, id: string) => (await tx.query(text, [id])).length),
  ];

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** For features whose records need more than to be gone; called from their `onModuleInit`. Before the plain rows. */
  onRemoving(...steps: EmptyingStep[]): void {
    this.steps.unshift(...steps);
  }

  /** Ends all keys at once, then what is under way, then the rest. */
  async remove(workspaceId: string): Promise<void> {
    do {
      await this.transaction((tx) => tx.query(END_MEMBERS, [workspaceId]));
      for (const step of this.steps) {
        while ((await this.transaction((tx) => step(tx, workspaceId))) > 0);
      }
    } while (!(await this.transaction((tx) => finish(tx, workspaceId))));
  }

  private async transaction<T>(work: (tx: UnitOfWork) => Promise<T>): Promise<T> {
    const [tx, result] = await this.dataSource.transaction(async (manager) => {
      const tx = new UnitOfWork(manager);
      return [tx, await work(tx)] as const;
    });
    tx.committed();
    return result;
  }
}

/** False when an operator has added a member meanwhile, who may have begun something. */
async function finish(tx: UnitOfWork, workspaceId: string): Promise<boolean> {
  await tx.query(LOCK, [workspaceId]);
  if ((await tx.query(IN_USE, [workspaceId])).length > 0) return false;
  await tx.query(REMOVE_STORAGE, [workspaceId]);
  await tx.query(DELETE, [workspaceId]);
  return true;
}
