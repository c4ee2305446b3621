import { Controller, Get } from '@nestjs/common';
import { z } from 'zod';
import type { JsonSchema } from '../../platform/http/documented.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { widened } from '../../platform/http/schema.js';
import { RateLimiter } from './rate-limiter.js';

const bucket = z.strictObject({ capacity: z.int().positive(), windowSeconds: z.int().positive() });
const plan = z.strictObject({
  global: bucket,
  policies: widened(
    z.strictObject({
      metadata_read: bucket,
      resource_read: bucket,
      resource_write: bucket,
      task_execution: bucket,
      file_upload: bucket,
    }),
    (schema, { policies }) => {
      const { properties, required } = schema as { properties: Record<string, JsonSchema>; required: string[] };
      for (const name of Object.keys(policies)) {
        properties[name] = properties['metadata_read'] ?? {};
        required.push(name);
      }
    },
  ),
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
    return this.limiter.rates;
  }
}
