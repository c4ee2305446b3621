import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { recordAct } from '../../access/audit/record.js';
import { senderOf } from '../../access/audit/sender.js';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Env } from '../../platform/config/env.js';
import { Transactions } from '../../platform/database/transactions.js';
import { ApiError } from '../../platform/http/api-error.js';
import { originOf } from '../../platform/http/origin.js';
import type { CheckoutDto, PortalDto } from './billing.dto.js';
import type { Order } from './billing-provider.js';
import { Billing } from './billing.service.js';

/** Leads people to the pages of the payment provider (reference §14). */
@Injectable()
export class Payments {
  constructor(
    private readonly billing: Billing,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** The address of a page where the workspace pays. Throws 400 for what is not sold, 409 `no_payment_provider`, 503. */
  async checkout(
    auth: AuthContext,
    req: Request,
    { plan, topUp, successUrl, cancelUrl }: CheckoutDto,
  ): Promise<string> {
    const order = orderOf(plan, topUp);
    const success = successUrl ?? this.usagePage(req);
    const url = await this.billing.provider.checkout(auth.workspaceId, order, {
      success,
      cancel: cancelUrl ?? success,
    });
    await this.record(req, 'billing.checkout');
    return url;
  }

  /** The address of a page where the workspace manages its subscription. Throws 409 `no_payment_provider`, 503. */
  async portal(auth: AuthContext, req: Request, { returnUrl }: PortalDto): Promise<string> {
    const url = await this.billing.provider.portal(auth.workspaceId, returnUrl ?? this.usagePage(req));
    await this.record(req, 'billing.portal');
    return url;
  }

  private usagePage(req: Request): string {
    return `${originOf(req, this.env)}/console/usage`;
  }

  /** It is no transaction of the request: the provider was waited for. */
  private async record(req: Request, action: string): Promise<void> {
    await this.transactions.open((tx) => recordAct(tx, senderOf(req), action, null));
  }
}

function orderOf(plan: CheckoutDto['plan'], topUp: CheckoutDto['topUp']): Order {
  if (plan !== undefined && topUp === undefined) return { plan };
  if (topUp !== undefined && plan === undefined) return { topUp };
  throw new ApiError('invalid_field', 'Either plan or topUp is expected.', {
    param: plan === undefined ? 'plan' : 'topUp',
  });
}
