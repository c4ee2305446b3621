import { Readable } from 'node:stream';
import { Database } from '../../platform/database/database.js';
import { Transactions } from '../../platform/database/transactions.js';
import { ApiError } from '../../platform/http/api-error.js';
import { type Job, JobHandler, JobWork } from '../../platform/jobs/job-handler.js';
import {
  AutomationFirer,
  type EventFile,
  PAYLOAD_GONE,
  reasonOf,
} from '../../resources/automations/automation-firer.js';
import { LOCK_BY_ID } from '../../resources/automations/automations.sql.js';
import { EVENT_FILE } from '../../resources/automations/event-notice.js';
import { StorageQuota } from '../../resources/files/storage-quota.js';
import { FileStorage } from '../../resources/files/storage/file-storage.js';
import { matchesTrigger } from '../../resources/integrations/catalogue/matches-trigger.js';
import { FilterError } from '../../resources/integrations/filter.js';
import { HookThread } from '../../resources/integrations/hook-thread.js';
import { AWAITED, DELIVERED, type Delivery, FREE_PAYLOAD, HOLD_BOUND, OF_CONNECTION } from './event-work.sql.js';

/** A delivery that has come in, or an automation whose waiting run may start. */
export type AutomationJob = { deliveryId: string } | { automationId: string };

/** Starts what providers' deliveries ask for, at once or when the task before it has ended (reference §12). */
@JobHandler('automation')
export class EventWork extends JobWork<AutomationJob> {
  constructor(
    private readonly transactions: Transactions,
    private readonly database: Database,
    private readonly firer: AutomationFirer,
    private readonly storage: FileStorage,
    private readonly quota: StorageQuota,
    private readonly thread: HookThread,
  ) {
    super();
  }

  /** May be repeated: a delivery starts an automation once, and a run that waits starts once. */
  handle({ data }: Job<AutomationJob>, signal: AbortSignal): Promise<void> {
    return 'deliveryId' in data ? this.deliver(data.deliveryId, signal) : this.startWaiting(data.automationId);
  }

  private async deliver(deliveryId: string, signal: AbortSignal): Promise<void> {
    const [delivery] = await this.database.work.run(DELIVERED({ deliveryId }));
    // Without its payload it is done: only the record that the job has ended was lost.
    if (delivery?.event == null || delivery.payload === null) return;
    const { connectionId, slug, event } = delivery;
    // Stored once for all automations that it starts.
    let stored: Promise<EventFile> | undefined;
    for (const { id: automationId, ...wish } of await this.database.work.run(OF_CONNECTION({ connectionId }))) {
      signal.throwIfAborted();
      if (wish.triggerEvent === null || !matchesTrigger(wish.triggerEvent, slug, event.slice(slug.length + 1)))
        continue;
      const wanted = await this.wants(wish.filter, delivery);
      if (wanted === false) continue;
      const file = wanted === true ? await (stored ??= this.store(delivery)) : wanted;
      await this.transactions.open(async (tx) => {
        if ((await tx.run(HOLD_BOUND({ automationId, connectionId }))).length === 0) return;
        await this.firer.fire(tx, automationId, { type: 'event', event, deliveryId, file });
      });
    }
    await this.database.work.run(FREE_PAYLOAD({ deliveryId }));
  }

  private async startWaiting(automationId: string): Promise<void> {
    const [delivery] = await this.database.work.run(AWAITED({ automationId }));
    const file = delivery === undefined ? null : await this.store(delivery);
    await this.transactions.open(async (tx) => {
      if ((await tx.run(LOCK_BY_ID({ id: automationId }))).length === 0) return;
      await this.firer.startWaiting(tx, automationId, { deliveryId: delivery?.id ?? null, file });
    });
    if (delivery !== undefined) await this.database.work.run(FREE_PAYLOAD({ deliveryId: delivery.id }));
  }

  /** Whether the filter is true of the payload; the reason of a skipped run when it cannot be said. */
  private async wants(filter: string | null, { payload, workspaceId }: Delivery): Promise<EventFile | boolean> {
    if (filter === null || payload === null) return true;
    try {
      return await this.thread.matches(filter, payload, workspaceId);
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      return { code: 'filter_failed', message: error.message };
    }
  }

  /** Before the transaction, which must not wait for the storage. What no row points at in the end is swept. */
  private async store({ workspaceId, plan, payload }: Delivery): Promise<EventFile> {
    if (payload === null) return PAYLOAD_GONE;
    const what = `an event of ${payload.length} bytes`;
    const room = await this.quota.room(workspaceId, plan, payload.length, what);
    try {
      const { maxBytes, tooLong } = room;
      return await this.storage.put(workspaceId, Readable.from([payload]), { maxBytes, tooLong, name: EVENT_FILE });
    } catch (error) {
      if (!(error instanceof ApiError) || error.retryable) throw error;
      return reasonOf(error);
    } finally {
      room.release();
    }
  }
}
