import { Body, Controller, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { CheckoutDto, PortalDto, UsageQuery } from './billing.dto.js';
import { Billing } from './billing.service.js';
import { paymentPageSchema, summarySchema, usageRowSchema } from './billing.view.js';
import { Payments } from './payments.js';
import { UsageReport } from './usage-report.js';

// No transaction around it: the payment provider may take its time.
const PAYS = {
  policy: 'resource_write',
  scopes: 'personal',
  administrators: true,
  asksOutside: true,
  answer: paymentPageSchema,
} as const;
const WHO = 'For owners and admins. Without a payment provider: 409 `no_payment_provider`.';

@Controller('v1/billing')
export class BillingController {
  constructor(
    private readonly billing: Billing,
    private readonly report: UsageReport,
    private readonly payments: Payments,
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

  @Post('checkout')
  @HttpCode(200)
  @Endpoint({
    ...PAYS,
    summary: 'Buy a plan or a top-up',
    description: `${WHO} Either \`plan\` or \`topUp\`. A workspace with a subscription is led to where it changes that: none pays for two.`,
  })
  async checkout(@Auth() auth: AuthContext, @Req() request: Request, @Body() body: CheckoutDto) {
    return { url: await this.payments.checkout(auth, request, body) };
  }

  @Post('portal')
  @HttpCode(200)
  @Endpoint({
    ...PAYS,
    summary: 'Manage the subscription',
    description: `${WHO} The page has the subscription, the ways to pay, and the invoices.`,
  })
  async portal(@Auth() auth: AuthContext, @Req() request: Request, @Body() body: PortalDto) {
    return { url: await this.payments.portal(auth, request, body) };
  }
}
