import { Injectable, Logger } from '@nestjs/common';
import { Chore } from '../../../platform/chores/chore.js';
import { LOCKS } from '../../../platform/database/locks.js';
import { Transactions } from '../../../platform/database/transactions.js';
import { recordProvider } from './record-provider.js';
import { StripeClient } from './stripe-client.js';
import { StripeSync } from './stripe-sync.js';
import { ANSWERED, DUE, END_LATE } from './stripe.sql.js';

/** Customers of one statement. */
const BATCH = 100;

/** Looks after what events do not bring: those that got lost, and the end of the grace (reference §14). */
@Injectable()
export class StripeUpkeep {
  private readonly logger = new Logger('Payments');

  constructor(
    private readonly stripe: StripeClient,
    private readonly sync: StripeSync,
    private readonly transactions: Transactions,
  ) {}

  /** Compares each customer with Stripe once a day, and all of them after an hour without an answer. Resolves with how many. */
  @Chore({ every: 300_000, lock: LOCKS.payments })
  async compare(signal: AbortSignal): Promise<number> {
    // The cheapest question: that it is answered ends a gap.
    await this.stripe.api.customers.list({ limit: 1 });
    await this.transactions.run(ANSWERED());
    let compared = 0;
    const failed = new Set<string>();
    for (;;) {
      const due = await this.transactions.run(DUE({ limit: BATCH + failed.size }));
      const open = due.filter(({ customerId }) => !failed.has(customerId));
      if (open.length === 0) return compared;
      for (const { customerId } of open) {
        if (signal.aborted) return compared;
        try {
          await this.sync.compare(customerId, signal);
          compared += 1;
        } catch (error) {
          if (signal.aborted || !this.isItsOwn(error)) throw error;
          // The others are looked after all the same; this one again the next time.
          failed.add(customerId);
          this.logger.warn(`The customer ${customerId} could not be compared with Stripe: ${String(error)}`);
        }
      }
    }
  }

  /** Of the clock alone: Stripe need not answer. Resolves with how many plans have ended. */
  @Chore({ every: 60_000, lock: LOCKS.latePayments })
  async endLate(): Promise<number> {
    const { graceDays } = this.stripe.config;
    return this.transactions.open(async (tx) => {
      const ended = await tx.run(END_LATE({ graceDays }));
      for (const { id } of ended) await recordProvider(tx, id);
      return ended.length;
    });
  }

  /** Whether it says something of this customer, and nothing of all. */
  private isItsOwn(error: unknown): boolean {
    return error instanceof this.stripe.errors.StripeInvalidRequestError;
  }
}
