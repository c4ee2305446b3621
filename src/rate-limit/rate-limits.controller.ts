import { Controller, Get } from '@nestjs/common';
import { Endpoint } from '../http/endpoint.js';
import { rateLimitsView } from './plan-buckets.js';
import { RateLimiter } from './rate-limiter.js';

@Controller('developer-api')
export class RateLimitsController {
  constructor(private readonly limiter: RateLimiter) {}

  @Get('rate-limits')
  @Endpoint({ policy: null, scopes: 'public' })
  rateLimits() {
    return rateLimitsView(this.limiter.plans);
  }
}
