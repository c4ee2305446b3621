import { Global, Module } from '@nestjs/common';
import { WriteTransactions } from '../../platform/http/write.interceptor.js';
import { IdempotencyService } from './idempotency.service.js';
import { InFlight } from './in-flight.js';
import { KeyPurge } from './key-purge.js';
import { UnitOfWorkInterceptor } from './unit-of-work.interceptor.js';

/** Global, because each module whose routes write asks for its transactions. */
@Global()
@Module({
  providers: [IdempotencyService, InFlight, KeyPurge, { provide: WriteTransactions, useClass: UnitOfWorkInterceptor }],
  exports: [WriteTransactions],
})
export class IdempotencyModule {}
