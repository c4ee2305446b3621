import { Injectable } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { inBatches } from '../../platform/chores/in-batches.js';
import { Database } from '../../platform/database/database.js';
import { LOCKS } from '../../platform/database/locks.js';
import { PURGE, PURGE_BATCH } from './webhook-deliveries.sql.js';
import { CANCEL_LEFT } from './webhooks.sql.js';

/** Forgets deliveries that are older than 30 days, and what webhooks that are gone have left (reference §18). */
@Injectable()
export class WebhookPurge {
  constructor(private readonly database: Database) {}

  /** Resolves with the number of deleted deliveries. */
  @Chore({ every: 600_000, lock: LOCKS.oldWebhookDeliveries })
  async purge(signal?: AbortSignal): Promise<number> {
    await inBatches(500, () => this.database.work.run(CANCEL_LEFT()), signal);
    return inBatches(PURGE_BATCH, () => this.database.work.run(PURGE()), signal);
  }
}
