// What a workspace may use, and what it is told of it. This file is the seam; the built-in provider is operator-billing.ts.
import type { SubscriptionStatus } from '../../access/workspaces/workspace.entity.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { WindowState } from './usage.sql.js';

/** The token of the provider that `billing` of CONFIG_FILE names; nothing without it. */
export const PAYMENT_PROVIDER = Symbol('millwright:payment-provider');

/** What the service itself knows of a workspace: what is set for it, and what it has used (reference §14). */
export interface BillingAccount {
  workspaceId: string;
  plan: Plan;
  subscription: { status: SubscriptionStatus; cancelAtPeriodEnd: boolean };
  renewal: { renewsAt: Date | null; endsAt: Date | null };
  /** The workspace's own allowances, else those of its plan. */
  windows: WindowState[];
  /** Micro-dollars. */
  topUpMicros: number;
}

/** What a workspace may buy. */
export interface Offers {
  plans: readonly Plan[];
  /** US dollars with two decimals. */
  topUps: readonly string[];
}

/** What a workspace wants to buy: a plan, or an amount of US dollars with two decimals. */
export type Order = { plan: Plan } | { topUp: string };

/** Where a browser goes when it is done, or gives up. */
export interface WaysBack {
  success: string;
  cancel: string;
}

/** What clients see of it (reference §14). Nothing else of a provider leaves the service. */
export interface BillingSummary extends Pick<BillingAccount, 'subscription' | 'renewal'> {
  plan: { id: Plan; name: string };
  /** At most one entry for each window. */
  usage: RemainingShare[];
  /** `balance`: a decimal number. */
  topUp: { balance: string; currency: 'USD' };
  /** With a payment provider alone. */
  offers?: Offers;
}

/** `remainingPercent`: a whole number from 0 to 100, rounded down. `resetsAt`: ISO 8601 with an offset. */
export type RemainingShare = Pick<WindowState, 'window' | 'resetsAt'> & { remainingPercent: number };

/** Work that is about to be taken in: a task, a message or an answer, or the task of an automation. */
export interface BilledWork {
  workspaceId: string;
  /** Whose work it is: the caller, or the owner of the automation. */
  userId: string;
  /** An id of `GET /v1/models`. */
  model: string;
  /** The window that is used up and that no top-up opens, as it stands in this transaction; null when there is none. */
  exhausted: WindowState | null;
}

/**
 * Decides whether a workspace may take in work, says how it stands, and lets it pay; chosen by `BILLING`, or by `billing` of CONFIG_FILE (reference §16). Metering is not
 * its business: the service records every model step, keeps the counters, and ends running tasks by the windows and the top-up of the
 * workspace. A provider that gets these from elsewhere writes them to the row of the workspace (its plan, allowances, top-up and
 * subscription), from a job or a chore; `summary` and `authorize` then find them in what they are given.
 */
export abstract class BillingProvider {
  /**
   * For `GET /v1/billing/summary`. Called once for each request, outside of any transaction. Whatever it rejects with other than
   * an `ApiError` is answered with 500.
   */
  abstract summary(account: BillingAccount): Promise<BillingSummary>;

  /**
   * Called for each new task, message and answer, after the checks of existence and ownership and before those of the state; and for
   * each run of an automation that would make a task. Resolves when the work may be taken in. Rejects with an `ApiError` of status 402
   * when it may not: the request is answered with it and changes nothing; the run of an automation is recorded as failed, with its code
   * and message, and the automation stays active. Any other error makes the request a 500, and the run is tried again.
   *
   * @param tx the transaction of the work. Others wait for the locks that it holds: a statement of the provider may run in it and costs
   *   a round trip; a call to another service has no place here.
   */
  abstract authorize(work: BilledWork, tx: UnitOfWork): Promise<void>;

  /**
   * For `POST /v1/billing/checkout`, outside of any transaction. Resolves with the address of a page of the provider where the workspace
   * pays for what it orders. Rejects with an `ApiError`: 400 for what is not sold, 503 when the provider does not answer. A provider without
   * payments leaves it as it is: 409 `no_payment_provider`.
   */
  checkout(_workspaceId: string, _order: Order, _back: WaysBack): Promise<string> {
    return Promise.reject(noPayments());
  }

  /** For `POST /v1/billing/portal`, as {@link checkout}: a page where the workspace changes and ends its subscription, and finds its invoices. */
  portal(_workspaceId: string, _back: string): Promise<string> {
    return Promise.reject(noPayments());
  }
}

function noPayments(): ApiError {
  return new ApiError(
    'no_payment_provider',
    'Nothing is paid for here: the operator sets plans, allowances and top-ups.',
  );
}
