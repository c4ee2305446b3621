import { Injectable } from '@nestjs/common';
import { Chore } from '../../../platform/chores/chore.js';
import { LOCKS } from '../../../platform/database/locks.js';
import { Transactions } from '../../../platform/database/transactions.js';
import { REPORTED, type Unreported, UNREPORTED } from './meter.sql.js';
import { StripeClient } from './stripe-client.js';

const DAY_MS = 86_400_000;
/** Entries of one statement. */
const BATCH = 200;
/** Requests at once: Stripe takes some hundred a second. */
const AT_ONCE = 8;
/** Stripe takes no event of a time that is longer ago than 35 days. */
const OLDEST_MS = 34 * DAY_MS;
/** Entries come some minutes late; later ones are found once a day. */
const RECENT_MS = 2 * DAY_MS;

/**
 * Reports the cost of each entry of the ledger to the meter of Stripe, in micro-dollars, once (reference §14). After a crash between the report and
 * its record the entry is reported again, by the same key and identifier: Stripe counts that once.
 */
@Injectable()
export class StripeMeter {
  /** When all entries were last looked for, not only recent ones. */
  private lookedAtAll = 0;

  constructor(
    private readonly stripe: StripeClient,
    private readonly transactions: Transactions,
  ) {}

  /** Resolves with how many were reported. */
  @Chore({ every: 60_000, lock: LOCKS.meterReports })
  async report(signal: AbortSignal): Promise<number> {
    const { meter } = this.stripe.config;
    if (meter === undefined) return 0;
    const now = Date.now();
    const all = now - this.lookedAtAll > DAY_MS;
    const since = all ? null : new Date(now - RECENT_MS);
    let reported = 0;
    for (;;) {
      const batch = await this.transactions.run(UNREPORTED({ since, limit: BATCH }));
      for (let at = 0; at < batch.length; at += AT_ONCE) {
        if (signal.aborted) return reported;
        const ends = await Promise.allSettled(batch.slice(at, at + AT_ONCE).map((entry) => this.one(meter, entry)));
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
      }
      reported += batch.length;
      if (batch.length < BATCH) break;
    }
    if (all) this.lookedAtAll = now;
    return reported;
  }

  private async one(meter: string, { workspaceId, customerId, messageId, at, costMicros }: Unreported): Promise<void> {
    const time = Math.max(new Date(at).getTime(), Date.now() - OLDEST_MS);
    try {
      const payload = { stripe_customer_id: customerId, value: String(costMicros) };
      await this.stripe.api.billing.meterEvents.create(
        { event_name: meter, identifier: messageId, timestamp: Math.floor(time / 1000), payload },
        { idempotencyKey: `millwright-meter-${messageId}` },
      );
    } catch (error) {
      if (!this.isKnown(error)) throw error;
    }
    await this.transactions.run(REPORTED({ workspaceId, at, messageId }));
  }

  /** Stripe has an event of this identifier. */
  private isKnown(error: unknown): boolean {
    return error instanceof this.stripe.errors.StripeInvalidRequestError && /already exists/.test(error.message);
  }
}
