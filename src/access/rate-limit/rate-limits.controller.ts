import { Controller, Get } from '@nestjs/common';
import { z } from 'zod';
import { Endpoint } from '../../platform/http/endpoint.js';
import { rateLimitsView } from './plan-buckets.js';
import { RateLimiter } from './rate-limiter.js';

const bucket = z.strictObject({ capacity: z.int().positive(), windowSeconds: z.int().positive() });
const plan = z.strictObject({
  global: bucket,
  policies: z.strictObject({
    metadata_read: bucket,
    resource_read: bucket,
    resource_write: bucket,
    task_execution: bucket,
    file_upload: bucket,
  }),
});

@Controller('developer-api')
export class RateLimitsController {
  constructor(private readonly limiter: RateLimiter) {}

  @Get('rate-limits')
  @Endpoint({
    summary: 'Read the rate limits',
    description: 'What the limiter itself goes by, for each plan.',
    policy: null,
    scopes: 'public',
    answer: z.strictObject({ free: plan, paid: plan }),
  })
  rateLimits() {
    return rateLimitsView(this.limiter.plans);
  }
}
