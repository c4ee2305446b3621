// Billing: what a workspace may use by its plan, and what it has used.
import { Module } from '@nestjs/common';
import { ModelsModule } from '../../engine/models/models.module.js';
import { FilesModule } from '../files/files.module.js';
import { Billing } from './billing.service.js';
import { BillingAccounts } from './billing-accounts.js';
import { BillingController } from './billing.controller.js';
import { OperatorBilling } from './operator-billing.js';
import { Payments } from './payments.js';
import { UsageReport } from './usage-report.js';
import { UsageSums } from './usage-sums.js';

@Module({
  imports: [FilesModule, ModelsModule],
  controllers: [BillingController],
  providers: [Billing, BillingAccounts, OperatorBilling, Payments, UsageReport, UsageSums],
  exports: [Billing],
})
export class BillingModule {}
