import { Injectable } from '@nestjs/common';
import { recordOperator } from '../../access/audit/record.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import type { SubscriptionStatus } from '../../access/workspaces/workspace.entity.js';
import { Env } from '../../platform/config/env.js';
import type { UsageWindow } from '../../platform/config/plans.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import { Database } from '../../platform/database/database.js';
import { Transactions } from '../../platform/database/transactions.js';
import { notFound } from '../../platform/http/api-error.js';
import { usd } from '../../platform/money/usd.js';
import { ACCOUNT, CHANGE } from './account.sql.js';
import type { BillingAccount } from './billing-provider.js';
import { type UsageRules, usageRulesOf } from './usage.sql.js';

/** What an operator changes; what is not given stays. */
export interface AccountChange {
  plan?: Plan;
  /** Each replaces the workspace's own allowance of its window and unit; null: all as the plan says. */
  usage?: readonly UsageWindow[] | null;
  /** Micro-dollars that are added; fewer than none are taken. */
  topUpMicros?: number;
  /** `canceled`: it ends now, and without `plan` the plan is then `free`. */
  status?: Extract<SubscriptionStatus, 'active' | 'past_due' | 'canceled'>;
  renewsAt?: Date;
}

/** The accounts of workspaces (reference §14). */
@Injectable()
export class BillingAccounts {
  private readonly rules: UsageRules;

  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    env: Env,
  ) {
    this.rules = usageRulesOf(env.file);
  }

  /** Throws 404 when the workspace is deleted at this moment. */
  async get(workspaceId: string): Promise<BillingAccount> {
    const [row] = await this.database.read.run(ACCOUNT({ workspaceId, rules: this.rules }));
    if (row === undefined) throw notFound('workspace');
    const { plan, subscriptionStatus: status, cancelAtPeriodEnd, renewsAt, endsAt, windows, topUpMicros } = row;
    const subscription = { status, cancelAtPeriodEnd };
    return { workspaceId, plan, subscription, renewal: { renewsAt, endsAt }, windows, topUpMicros };
  }

  /** In force at once, for running tasks too. Throws {@link OperatorError}, when more is taken from the top-up than is left too. */
  async change(workspaceId: string, { plan, usage, topUpMicros = 0, status, renewsAt }: AccountChange): Promise<void> {
    const values = { plan: plan ?? null, usage: usage ?? null, status: status ?? null, renewsAt: renewsAt ?? null };
    const change = CHANGE({ workspaceId, ...values, clearsUsage: usage === null, topUpMicros });
    const changed = await this.transactions.open(async (tx) => {
      const found = (await tx.run(change)).length > 0;
      if (found) await recordOperator(tx, workspaceId, 'workspace.plan', { type: 'workspace', id: workspaceId });
      return found;
    });
    if (changed) return;
    const account = await this.get(workspaceId);
    throw new OperatorError(`The top-up has ${usd(account.topUpMicros)} USD; no more than that can be taken from it.`);
  }
}
