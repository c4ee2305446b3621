import { Controller, Get, Query } from '@nestjs/common';
import { z } from 'zod';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { UsageQuery } from './billing.dto.js';
import { Billing } from './billing.service.js';
import { summarySchema, usageRowSchema } from './billing.view.js';
import { UsageReport } from './usage-report.js';

@Controller('v1/billing')
export class BillingController {
  constructor(
    private readonly billing: Billing,
    private readonly report: UsageReport,
  ) {}

  @Get('summary')
  @Endpoint({
    summary: 'Read the billing summary',
    description: 'The plan, the subscription, and what is left of the allowances of the workspace.',
    policy: 'metadata_read',
    scopes: ['billing:read'],
    answer: summarySchema,
  })
  summary(@Auth() auth: AuthContext) {
    return this.billing.summary(auth);
  }

  @Get('usage')
  @Endpoint({
    summary: 'Read what was used',
    description:
      'Of at most 366 days, the 1,000 largest rows, the largest first. Grouped by project, automation or user, a member sees what ' +
      'is of tasks that it may see; the rest is one row with the key null.',
    policy: 'metadata_read',
    scopes: ['billing:read'],
    answer: z.strictObject({ usage: z.array(usageRowSchema) }),
  })
  async usage(@Auth() auth: AuthContext, @Query() query: UsageQuery) {
    return { usage: await this.report.read(auth, query) };
  }
}
