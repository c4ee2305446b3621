import { Injectable } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { LOCKS } from '../../platform/database/locks.js';
import { Transactions } from '../../platform/database/transactions.js';
import { CLOSE, DUE, HOLD_LATE } from './usage-sums.sql.js';

/** Workspaces of one look. */
const BATCH = 100;

/** Adds up the use of days that are over: a report of a month reads a sum for each day, not each call of a model. */
@Injectable()
export class UsageSums {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
  ) {}

  /** Each workspace in transactions of its own, of a month at most. Resolves with how many there were. */
  @Chore({ every: 600_000, lock: LOCKS.usageDays })
  async close(signal?: AbortSignal): Promise<number> {
    let closed = 0;
    for (;;) {
      const due = await this.database.work.run(DUE({ limit: BATCH }));
      if (due.length === 0) return closed;
      for (const { id: workspaceId } of due) {
        if (signal?.aborted === true) return closed;
        await this.transactions.open(async (tx) => {
          await tx.run(HOLD_LATE({ workspaceId }));
          await tx.run(CLOSE({ workspaceId }));
        });
        closed += 1;
      }
    }
  }
}
