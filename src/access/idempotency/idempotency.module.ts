// Idempotency-Keys (reference §8): claimed, answered again, forgotten after 24 hours.
import { Module } from '@nestjs/common';
import { IdempotencyService } from './idempotency.service.js';
import { InFlight } from './in-flight.js';
import { KeyPurge } from './key-purge.js';

@Module({ providers: [IdempotencyService, InFlight, KeyPurge], exports: [IdempotencyService, InFlight] })
export class IdempotencyModule {}
