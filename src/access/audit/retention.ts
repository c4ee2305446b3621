import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { inBatches } from '../../platform/chores/in-batches.js';
import { Env } from '../../platform/config/env.js';
import { Database } from '../../platform/database/database.js';
import { LOCKS } from '../../platform/database/locks.js';
import { DROP_MONTHS, FORGET_CHAIN, FORGET_SOME, GONE, MAKE_MONTHS } from './chain.sql.js';

const BATCH = 500;

/** Makes the monthly partitions of the audit log in advance, drops old ones, and deletes the rows of workspaces that are gone. */
@Injectable()
export class AuditRetention implements OnApplicationBootstrap {
  private readonly logger = new Logger(AuditRetention.name);

  constructor(
    private readonly database: Database,
    private readonly env: Env,
  ) {}

  /** A service that was off for months needs a partition to write into. When this fails, the chore tries again. */
  async onApplicationBootstrap(): Promise<void> {
    await this.database.work
      .run(MAKE_MONTHS())
      .catch((error: unknown) => this.logger.warn(`The months of the audit log were not made: ${String(error)}`));
  }

  /** Resolves with the number of rows that were deleted because their workspaces are gone. */
  @Chore({ every: 600_000, lock: LOCKS.auditKeeping })
  async keep(signal?: AbortSignal): Promise<number> {
    await this.database.work.run(MAKE_MONTHS());
    await this.dropMonths(signal);
    let forgotten = 0;
    while (signal?.aborted !== true) {
      const [gone] = await this.database.work.run(GONE());
      if (gone === undefined) break;
      forgotten += await this.forget(gone.id, signal);
    }
    return forgotten;
  }

  /** Rejects while somebody reads a partition that is due, such as a backup. The chore then tries again. */
  private async dropMonths(signal?: AbortSignal): Promise<void> {
    const drop = DROP_MONTHS({ days: this.env.variables.AUDIT_DAYS });
    while (signal?.aborted !== true) {
      const [dropped] = await this.database.work.run(drop);
      if (dropped === undefined) return;
      this.logger.log(`Dropped ${dropped.name}: its time in the audit log was over.`);
    }
  }

  private async forget(workspaceId: string, signal?: AbortSignal): Promise<number> {
    const some = FORGET_SOME({ workspaceId, limit: BATCH });
    const gone = await inBatches(BATCH, () => this.database.work.run(some), signal);
    if (signal?.aborted !== true) await this.database.work.run(FORGET_CHAIN({ workspaceId }));
    return gone;
  }
}
