import { Injectable } from '@nestjs/common';
import { recordOperator } from '../audit/record.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { DELETE, DELETE_SOME, END_MEMBERS, IN_USE, LOCK, REMOVE_STORAGE } from './workspace-remover.sql.js';

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
