import { Global, Module } from '@nestjs/common';
import { IdempotencyService } from './idempotency.service.js';
import { InFlight } from './in-flight.js';
import { KeyPurge } from './key-purge.js';

/** Global, because each module whose routes write has an interceptor of its own that needs them. */
@Global()
@Module({ providers: [IdempotencyService, InFlight, KeyPurge], exports: [IdempotencyService, InFlight] })
export class IdempotencyModule {}
