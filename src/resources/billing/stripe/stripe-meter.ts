import { Injectable, Logger } from '@nestjs/common';
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
/** Characters that are kept of what Stripe says. */
const LONGEST = 500;
/** Entries come some minutes late; later ones are found once a day. */
const RECENT_MS = 2 * DAY_MS;

/**
 * Reports the cost of each entry of the ledger to the meter of Stripe, in micro-dollars, once (reference §14). After a crash between the report and
 * its record the entry is reported again, by the same key and identifier: Stripe counts that once. One that Stripe
 * refuses for what it says is tried no more, and holds up no other.
 */
@Injectable()
export class StripeMeter {
  /** When all entries were last looked for, not only recent ones. */
  private lookedAtAll = 0;
  private readonly logger = new Logger('Payments');

  constructor(
    private readonly stripe: StripeClient,
    private readonly transactions: Transactions,
  ) {}

  /** Resolves with how many were reported, or refused. */
  @Chore({ every: 60_000, lock: LOCKS.meterReports })
  async report(signal: AbortSignal): Promise<number> {
    const { meter } = this.stripe.config;
    if (meter === undefined) return 0;
    const refusals: string[] = [];
    try {
      return await this.reportAll(meter, refusals, signal);
    } finally {
      if (refusals.length > 0) {
        const what = `Stripe refuses the cost of ${refusals.length} entries of the ledger, and is not asked again`;
        this.logger.error(`${what}: ${refusals[0]}`);
      }
    }
  }

  /** @param refusals takes what Stripe says of those that it refuses. */
  private async reportAll(meter: string, refusals: string[], signal: AbortSignal): Promise<number> {
    const now = Date.now();
    const all = now - this.lookedAtAll > DAY_MS;
    const since = all ? null : new Date(now - RECENT_MS);
    let reported = 0;
    for (;;) {
      const batch = await this.transactions.run(UNREPORTED({ since, limit: BATCH }));
      for (let at = 0; at < batch.length; at += AT_ONCE) {
        if (signal.aborted) return reported;
        const ends = await Promise.allSettled(batch.slice(at, at + AT_ONCE).map((entry) => this.one(meter, entry)));
        for (const end of ends) if (end.status === 'fulfilled' && end.value !== null) refusals.push(end.value);
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
      }
      reported += batch.length;
      if (batch.length < BATCH) break;
    }
    if (all) this.lookedAtAll = now;
    return reported;
  }

  /** Resolves with why Stripe refuses the entry, null when it has taken it. Rejects when it may take it another time. */
  private async one(
    meter: string,
    { workspaceId, customerId, messageId, at, costMicros }: Unreported,
  ): Promise<string | null> {
    const time = Math.max(new Date(at).getTime(), Date.now() - OLDEST_MS);
    let refusal: string | null = null;
    try {
      const payload = { stripe_customer_id: customerId, value: String(costMicros) };
      await this.stripe.api.billing.meterEvents.create(
        { event_name: meter, identifier: messageId, timestamp: Math.floor(time / 1000), payload },
        { idempotencyKey: `millwright-meter-${messageId}` },
      );
    } catch (error) {
      // Everything else says something of Stripe, of the way there or of the secret key, and nothing of the entry.
      if (!(error instanceof this.stripe.errors.StripeInvalidRequestError)) throw error;
      // Stripe has an event of this identifier.
      if (!/already exists/.test(error.message)) refusal = error.message.slice(0, LONGEST).toWellFormed();
    }
    await this.transactions.run(REPORTED({ workspaceId, at, messageId, refusal }));
    return refusal;
  }
}
