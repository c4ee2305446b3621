// The audit log (reference §14): who did what, or was refused. Rows are written with the act, sealed in a chain a moment later, read
// by owners and admins, and dropped by months.
import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { AuditReader } from './audit-reader.js';
import { AuditRetention } from './retention.js';
import { Refusals } from './refusals.js';
import { Sealer } from './sealer.js';

@Module({
  controllers: [AuditController],
  providers: [AuditReader, AuditRetention, Refusals, Sealer],
  exports: [Refusals],
})
export class AuditModule {}
