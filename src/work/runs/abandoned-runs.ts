import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { sql } from '../../platform/database/sql.js';
import { DatabaseServer } from '../../platform/database/database-server.js';

// `least`: a lease that has ended already keeps its end, because running time is counted up to it.
const END_LEASES = sql`
UPDATE runs SET lease_until = least(lease_until, clock_timestamp()) WHERE status = 'running'`.rows();

/**
 * With the embedded database no other process works: the boot holds the lock of `DATA_DIR` by now, and this process has claimed
 * nothing yet. So a run that is still running was that of a killed process, whose sandboxes ended with their pipes to it. Its
 * lease ends here, and the reconciler's first look recovers it (reference §5) instead of one after the whole lease.
 */
@Injectable()
export class AbandonedRuns implements OnModuleInit {
  constructor(
    private readonly server: DatabaseServer,
    private readonly database: Database,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.server.embedded) await this.database.polling.run(END_LEASES());
  }
}
