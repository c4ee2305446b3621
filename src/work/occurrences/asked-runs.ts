import { Transactions } from '../../platform/database/transactions.js';
import { type Job, JobHandler, JobWork } from '../../platform/jobs/job-handler.js';
import { AutomationFirer } from '../../resources/automations/automation-firer.js';
import { type AskedRun, ASKED_RUNS } from '../../resources/automations/operator-automations.js';
import { LOCK_BY_ID } from '../../resources/automations/automations.sql.js';

/** Makes the runs that an operator has asked for. A run has the id of its job, so that a second attempt makes no second run. */
@JobHandler(ASKED_RUNS)
export class AskedRuns extends JobWork<AskedRun> {
  constructor(
    private readonly transactions: Transactions,
    private readonly firer: AutomationFirer,
  ) {
    super();
  }

  async handle({ id, data: { automationId } }: Job<AskedRun>): Promise<void> {
    await this.transactions.open(async (tx) => {
      // Deleted since, perhaps.
      if ((await tx.run(LOCK_BY_ID({ id: automationId }))).length === 0) return;
      await this.firer.fire(tx, automationId, { type: 'manual', id });
    });
  }
}
