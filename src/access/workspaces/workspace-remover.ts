import { Injectable } from '@nestjs/common';
import { recordOperator } from '../audit/record.js';
import { raw, sql, uuid } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';

// The last transaction locks the workspace first; the others lock what they delete.

const ID = uuid('id');

/** In-flight requests of members hold their membership until they commit: after this there is none, and no new one. */
const END_MEMBERS = sql`
WITH member AS (SELECT user_id FROM memberships WHERE workspace_id = ${ID} ORDER BY user_id FOR UPDATE)
DELETE FROM memberships m USING member WHERE m.workspace_id = ${ID} AND m.user_id = member.user_id`.rows();

const deleteSome = (table: string) =>
  sql`
DELETE FROM ${raw(table)} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${raw(table)} WHERE workspace_id = ${ID} LIMIT 2000))
RETURNING 1`.rows();

/**
 * Statements that delete a part of the rows with no consequences; one row for each deleted one. They come before the
 * workspace's own row: its cascade would take all of them in one statement. Files come before projects, for each project's
 * deletion looks for its files. Accounts go one at a time: the database looks through whole tables for what refers to each.
 */
const DELETE_SOME = [
  ...[
    'files',
    'automations',
    'projects',
    'uploads',
    'idempotency_keys',
    'workspace_events',
    'usage_ledger',
    'usage_sums',
    // Behind the ledger: an entry without its report would be reported again.
    'meter_reports',
  ].map(deleteSome),
  sql`DELETE FROM users WHERE id = (SELECT id FROM users WHERE service_of = ${ID} LIMIT 1) RETURNING 1`.rows(),
];

const LOCK = sql`SELECT 1 FROM workspaces WHERE id = ${ID} FOR UPDATE`.rows();
const IN_USE = sql`
SELECT 1 FROM memberships WHERE workspace_id = ${ID} UNION ALL SELECT 1 FROM tasks WHERE workspace_id = ${ID} LIMIT 1`.rows();
/** Bytes are stored a moment before the row that points at them: after an hour nobody stores anything there any more. */
const REMOVE_STORAGE = sql`
INSERT INTO folder_removals (kind, id, not_before) VALUES ('storage', ${ID}, clock_timestamp() + interval '1 hour')
ON CONFLICT (kind, id) DO NOTHING`.rows();
const DELETE = sql`DELETE FROM workspaces WHERE id = ${ID}`.rows();

/**
 * Deletes a part of what a feature has in a workspace that nobody can use any more, in a transaction of its own: so much
 * that it takes a moment. Resolves with how many there were; it is called again until there are none.
 */
export type EmptyingStep = (tx: UnitOfWork, workspaceId: string) => Promise<number>;

/** Deletes workspaces with all that is in them, in short transactions; killed in between, the next call goes on. */
@Injectable()
export class WorkspaceRemover {
  private readonly steps: EmptyingStep[] = DELETE_SOME.map(
    (statement) => async (tx: UnitOfWork, id: string) => (await tx.run(statement({ id }))).length,
  );

  constructor(private readonly transactions: Transactions) {}

  /** For features whose records need more than to be gone; called from their `onModuleInit`. Before the plain rows. */
  onRemoving(...steps: EmptyingStep[]): void {
    this.steps.unshift(...steps);
  }

  /**
   * Ends all keys at once, then what is under way, then the rest.
   * @param told after each transaction, with how many records have been deleted so far.
   */
  async remove(id: string, told: (deleted: number) => void = () => undefined): Promise<void> {
    let deleted = 0;
    const some = async (step: EmptyingStep): Promise<number> => {
      const count = await this.transactions.open((tx) => step(tx, id));
      told((deleted += count));
      return count;
    };
    do {
      await this.transactions.run(END_MEMBERS({ id }));
      for (const step of this.steps) while ((await some(step)) > 0);
    } while (!(await this.transactions.open((tx) => finish(tx, id))));
  }
}

/** False when an operator has added a member meanwhile, who may have begun something. */
async function finish(tx: UnitOfWork, id: string): Promise<boolean> {
  await tx.run(LOCK({ id }));
  if ((await tx.run(IN_USE({ id }))).length > 0) return false;
  await tx.run(REMOVE_STORAGE({ id }));
  await tx.run(DELETE({ id }));
  // What the audit log has of the workspace goes with it, so this stands in the installation's.
  await recordOperator(tx, null, 'workspace.delete', { type: 'workspace', id });
  return true;
}
