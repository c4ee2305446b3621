// Billing without a payment provider: plans, allowances and balances are what the operator has set (reference §14).
import { plansOf } from '../../platform/config/config-file.js';
import { Env } from '../../platform/config/env.js';
import { usageWindowSchema } from '../../platform/config/plans.js';
import { ApiError } from '../../platform/http/api-error.js';
import { usd } from '../../platform/money/usd.js';
import { Plugin } from '../../platform/plugins/plugin.js';
import {
  type BilledWork,
  type BillingAccount,
  BillingProvider,
  type BillingSummary,
  type RemainingShare,
} from './billing-provider.js';
import { usedUpText } from './usage-text.js';
import type { WindowState } from './usage.sql.js';

const WINDOWS = usageWindowSchema.shape.window.options;

@Plugin(BillingProvider, 'operator')
export class OperatorBilling extends BillingProvider {
  private readonly plans: ReturnType<typeof plansOf>;

  constructor(env: Env) {
    super();
    this.plans = plansOf(env.file);
  }

  summary({ plan, subscription, renewal, windows, topUpMicros }: BillingAccount): Promise<BillingSummary> {
    return Promise.resolve({
      plan: { id: plan, name: this.plans[plan].name },
      subscription,
      renewal,
      usage: WINDOWS.flatMap((window) => remaining(windows.filter((one) => one.window === window))),
      topUp: { balance: usd(topUpMicros), currency: 'USD' },
    });
  }

  authorize({ exhausted }: BilledWork): Promise<void> {
    return exhausted === null ? Promise.resolve() : Promise.reject(refusal(exhausted));
  }
}

/** With several units in one window the smallest share counts. Empty without any. */
function remaining(windows: WindowState[]): RemainingShare[] {
  const [first] = windows;
  if (first === undefined) return [];
  const { window, resetsAt } = first;
  return [{ window, resetsAt, remainingPercent: Math.min(...windows.map(percentLeft)) }];
}

/** In whole numbers: 29/100 × 100 is 28.999… in floating point. */
function percentLeft({ allowance, used }: WindowState): number {
  return Number((100n * BigInt(Math.max(0, allowance - used))) / BigInt(allowance));
}

function refusal(exhausted: WindowState): ApiError {
  return new ApiError('usage_exhausted', `${usedUpText(exhausted)}. Try again then, or ask the operator for more.`);
}
