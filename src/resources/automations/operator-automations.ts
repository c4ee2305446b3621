// What the operator command does with automations: no rights of a caller, and no models, which take seconds to load.
import { Injectable } from '@nestjs/common';
import { recordOperator } from '../../access/audit/record.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import type { Workspace } from '../../access/workspaces/workspace.entity.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError } from '../../platform/http/api-error.js';
import { ADD } from '../../platform/jobs/jobs.sql.js';
import { AutomationStates } from './automation-states.js';
import {
  type AutomationRow,
  LIST_IN_WORKSPACE,
  LOCK_IN_WORKSPACE,
  type LockedAutomation,
  READ,
} from './automations.sql.js';

/** The queue of runs that an operator has asked for. */
export const ASKED_RUNS = 'automation-runs';
export interface AskedRun {
  automationId: string;
}

/** Automations for the operator (reference §16). Everything here throws {@link OperatorError}. */
@Injectable()
export class OperatorAutomations {
  constructor(
    private readonly transactions: Transactions,
    private readonly states: AutomationStates,
  ) {}

  /** The oldest first. */
  list(workspaceId: string): Promise<AutomationRow[]> {
    return this.transactions.run(LIST_IN_WORKSPACE({ workspaceId }));
  }

  pause(workspaceId: string, id: string): Promise<AutomationRow> {
    return this.change('automation.pause', workspaceId, id, (tx, automation) => this.states.pause(tx, automation));
  }

  resume({ id: workspaceId, plan }: Pick<Workspace, 'id' | 'plan'>, id: string): Promise<AutomationRow> {
    return this.change('automation.resume', workspaceId, id, (tx, automation) =>
      this.states.resume(tx, automation, plan),
    );
  }

  /** Leaves a run to the workers, who look each second. Resolves with the id that it will have. */
  async run(workspaceId: string, automationId: string): Promise<{ id: string; automationId: string }> {
    const id = newId();
    await this.transactions.open(async (tx) => {
      await lock(tx, workspaceId, automationId);
      const data: AskedRun = { automationId };
      await record(tx, 'automation.run', workspaceId, automationId);
      await tx.run(ADD({ id, queue: ASKED_RUNS, share: workspaceId, key: null, data, dueAt: null }));
    });
    return { id, automationId };
  }

  private change(
    action: string,
    workspaceId: string,
    id: string,
    act: (tx: UnitOfWork, automation: LockedAutomation) => Promise<void>,
  ): Promise<AutomationRow> {
    return this.transactions.open(async (tx) => {
      const automation = await lock(tx, workspaceId, id);
      await act(tx, automation).catch(inOperatorsWords);
      await record(tx, action, workspaceId, id);
      const [row] = await tx.run(READ({ id }));
      return row ?? unknown(id);
    });
  }
}

const record = (tx: UnitOfWork, action: string, workspaceId: string, id: string) =>
  recordOperator(tx, workspaceId, action, { type: 'automation', id: id.toLowerCase() });

async function lock(tx: UnitOfWork, workspaceId: string, id: string): Promise<LockedAutomation> {
  const [automation] = isUuid(id) ? await tx.run(LOCK_IN_WORKSPACE({ workspaceId, id })) : [];
  return automation ?? unknown(id);
}

function unknown(id: string): never {
  throw new OperatorError(
    `There is no automation '${id}' in this workspace; 'automation list' shows those that there are.`,
  );
}

function inOperatorsWords(error: unknown): never {
  throw error instanceof ApiError ? new OperatorError(error.message) : error;
}
