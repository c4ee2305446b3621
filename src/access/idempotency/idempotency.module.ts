// Idempotency-Keys (reference §8): claimed, answered again, forgotten after 24 hours.
import { Module } from '@nestjs/common';
import { InFlight } from './in-flight.js';
import { KeyPurge } from './key-purge.js';

@Module({ providers: [InFlight, KeyPurge], exports: [InFlight] })
export class IdempotencyModule {}
