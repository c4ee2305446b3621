import { Global, Module } from '@nestjs/common';
import { IdempotencyService } from './idempotency.service.js';
import { InFlight } from './in-flight.js';
import { KeyPurge } from './key-purge.js';

/** Global, because whoever deletes a task has its stored answers forgotten in the same transaction. */
@Global()
@Module({ providers: [IdempotencyService, InFlight, KeyPurge], exports: [IdempotencyService, InFlight] })
export class IdempotencyModule {}
