import { Module } from '@nestjs/common';
import { RateLimiter } from './rate-limiter.js';
import { RateLimitsController } from './rate-limits.controller.js';

@Module({ controllers: [RateLimitsController], providers: [RateLimiter], exports: [RateLimiter] })
export class RateLimitModule {}
