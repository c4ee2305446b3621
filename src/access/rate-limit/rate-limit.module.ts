// How many requests a key may send: buckets in Redis or in memory, and the routes that show them.
import { Module } from '@nestjs/common';
import { RateLimiter } from './rate-limiter.js';
import { RateLimitsController } from './rate-limits.controller.js';

@Module({ controllers: [RateLimitsController], providers: [RateLimiter], exports: [RateLimiter] })
export class RateLimitModule {}
