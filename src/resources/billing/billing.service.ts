import { Inject, Injectable, type OnModuleInit, Optional } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Env } from '../../platform/config/env.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { PluginRegistry } from '../../platform/plugins/plugin.js';
import { StorageQuota } from '../files/storage-quota.js';
import { BillingAccounts } from './billing-accounts.js';
import { type BilledWork, BillingProvider, PAYMENT_PROVIDER } from './billing-provider.js';
import { summaryView } from './billing.view.js';
import { EXHAUSTED, type UsageRules, usageRulesOf } from './usage.sql.js';

/** What a workspace may do by its plan, and how it stands: asked of the provider that `BILLING` or `billing` of CONFIG_FILE names (reference §14). */
@Injectable()
export class Billing implements OnModuleInit {
  /** For the statements that tell whether a window is used up. */
  readonly rules: UsageRules;
  private chosen: BillingProvider | undefined;

  constructor(
    private readonly plugins: PluginRegistry,
    private readonly accounts: BillingAccounts,
    private readonly storage: StorageQuota,
    private readonly env: Env,
    /** Of `billing` of CONFIG_FILE. */
    @Optional() @Inject(PAYMENT_PROVIDER) private readonly paid?: BillingProvider,
  ) {
    this.rules = usageRulesOf(env.file);
  }

  onModuleInit(): void {
    this.chosen = this.paid ?? this.plugins.chosen(BillingProvider, 'BILLING', this.env.variables.BILLING);
  }

  async summary({ workspaceId }: AuthContext) {
    // Two reads of one moment share a round trip.
    const [account, stored] = await Promise.all([this.accounts.get(workspaceId), this.storage.usage(workspaceId)]);
    return summaryView(await this.provider.summary(account), stored);
  }

  /** Throws 402 when the workspace may not take in the work. `exhausted` as a statement of the transaction has brought it. */
  authorize(tx: UnitOfWork, work: BilledWork): Promise<void> {
    return this.provider.authorize(work, tx);
  }

  /** As {@link authorize}, where no statement has brought `exhausted`: it asks. */
  async authorizeAhead(tx: UnitOfWork, work: Omit<BilledWork, 'exhausted'>): Promise<void> {
    const [found] = await tx.run(EXHAUSTED({ ...work, rules: this.rules }));
    await this.authorize(tx, { ...work, exhausted: found?.exhausted ?? null });
  }

  /** The one that was chosen. Throws before the boot. */
  get provider(): BillingProvider {
    if (this.chosen === undefined) throw new Error('No billing provider has been chosen in this process yet.');
    return this.chosen;
  }
}
