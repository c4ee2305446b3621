import { Module } from '@nestjs/common';
import {
  ApiError,
  type BilledWork,
  type BillingAccount,
  BillingProvider,
  type BillingSummary,
  Database,
  defineExtension,
  ForwardMigration,
  Plugin,
  sql,
  type UnitOfWork,
  uuid,
} from 'millwright';

const OVERDUE = sql`
SELECT number FROM invoices WHERE workspace_id = ${uuid('workspaceId')} AND NOT paid AND due_at < now()
ORDER BY due_at LIMIT 1`.rows<{ number: string }>();

/** Workspaces pay by invoice: who has one that is overdue begins nothing new. */
@Plugin(BillingProvider, 'invoices')
export class InvoiceBilling extends BillingProvider {
  constructor(private readonly database: Database) {
    super();
  }

  async summary({ workspaceId, plan, renewal }: BillingAccount): Promise<BillingSummary> {
    const [overdue] = await this.database.read.run(OVERDUE({ workspaceId }));
    return {
      plan: { id: plan, name: 'By invoice' },
      subscription: { status: overdue === undefined ? 'active' : 'past_due', cancelAtPeriodEnd: false },
      renewal,
      usage: [],
      topUp: { balance: '0.00', currency: 'USD' },
    };
  }

  async authorize({ workspaceId }: BilledWork, tx: UnitOfWork): Promise<void> {
    const [overdue] = await tx.run(OVERDUE({ workspaceId }));
    if (overdue === undefined) return;
    throw new ApiError('subscription_required', `The invoice ${overdue.number} is overdue; pay it to go on.`);
  }
}

class Invoices1795823400002 extends ForwardMigration {
  readonly sql = `
      CREATE TABLE invoices (number text PRIMARY KEY, workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        due_at timestamptz NOT NULL, paid boolean NOT NULL DEFAULT false);
      CREATE INDEX invoices_unpaid ON invoices (workspace_id, due_at) WHERE NOT paid`;
}

@Module({ providers: [InvoiceBilling] })
class InvoicesModule {}

export const INVOICES = defineExtension({
  name: 'invoices',
  module: InvoicesModule,
  migrations: [Invoices1795823400002],
});
