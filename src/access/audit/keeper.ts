import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { inBatches } from '../../platform/chores/in-batches.js';
import { Env } from '../../platform/config/env.js';
import { Database } from '../../platform/database/database.js';
import { LOCKS } from '../../platform/database/locks.js';
import { DROP_MONTHS, FORGET_CHAIN, FORGET_SOME, GONE, MAKE_MONTHS } from './chain.sql.js';

const BATCH = 500;

/** Makes the months of the audit log ahead, drops those whose time is over, and forgets workspaces that are gone. */
@Injectable()
export class AuditKeeper implements OnApplicationBootstrap {
  private readonly logger = new Logger(AuditKeeper.name);

  constructor(
    private readonly database: Database,
    private readonly env: Env,
  ) {}

  /** A service that stood still for months has a month to write into. What fails here is made good by the chore. */
  async onApplicationBootstrap(): Promise<void> {
    await this.database.work
      .run(MAKE_MONTHS())
      .catch((error: unknown) => this.logger.warn(`The months of the audit log were not made: ${String(error)}`));
  }

  /** Resolves with the number of rows that were forgotten with their workspaces. */
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

  /** Rejects where one is being read, by a backup for example: it waits for the next time. */
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
