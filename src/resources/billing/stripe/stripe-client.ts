// The way to Stripe: its own package, which is loaded where CONFIG_FILE has `billing` and nowhere else.
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Stripe } from 'stripe';
import type { PaymentConfig, PaymentSecrets } from '../../../platform/config/payment.js';
import { Env } from '../../../platform/config/env.js';
import { ApiError } from '../../../platform/http/api-error.js';

/** Milliseconds of one request; a person waits for it. */
const TIMEOUT_MS = 20_000;

@Injectable()
export class StripeClient implements OnModuleInit {
  readonly config: PaymentConfig;
  private readonly logger = new Logger('Payments');
  private readonly secrets: PaymentSecrets;
  private package: typeof import('stripe') | null = null;
  private client: Stripe | null = null;

  constructor(env: Env) {
    const { billing } = env.file;
    if (billing === undefined || env.paymentSecrets === null) throw new Error('CONFIG_FILE has no billing.');
    this.config = billing;
    this.secrets = env.paymentSecrets;
  }

  async onModuleInit(): Promise<void> {
    this.package = await import('stripe');
    const { Stripe } = this.package;
    this.client = new Stripe(this.secrets.secretKey, {
      ...addressOf(this.config.baseUrl),
      maxNetworkRetries: 2,
      timeout: TIMEOUT_MS,
      telemetry: false,
    });
  }

  /** For what works by itself: it throws what Stripe's package throws. */
  get api(): Stripe {
    if (this.client === null) throw new Error('The payment provider is asked before the boot.');
    return this.client;
  }

  /** For a request of a person: 503 when Stripe does not answer or is too busy. What else it refuses is a fault of ours, or of the configuration. */
  async ask<T>(question: (api: Stripe) => Promise<T>): Promise<T> {
    try {
      return await question(this.api);
    } catch (error) {
      if (!this.passes(error)) throw error;
      this.logger.warn(`Stripe did not answer: ${String(error)}`);
      throw new ApiError('unavailable', 'The payment provider does not answer. Try again.', { cause: error });
    }
  }

  /** The event that was sent; null when it is not signed with our secret, or was signed more than five minutes ago. */
  eventOf(body: Buffer, signature: string): Stripe.Event | null {
    try {
      return this.api.webhooks.constructEvent(body, signature, this.secrets.webhookSecret);
    } catch (error) {
      if (error instanceof this.errors.StripeSignatureVerificationError) return null;
      throw error;
    }
  }

  /** Whether Stripe says that there is no such thing. */
  isMissing(error: unknown): boolean {
    return error instanceof this.errors.StripeInvalidRequestError && error.code === 'resource_missing';
  }

  private passes(error: unknown): boolean {
    const { StripeConnectionError, StripeAPIError, StripeRateLimitError } = this.errors;
    return [StripeConnectionError, StripeAPIError, StripeRateLimitError].some((kind) => error instanceof kind);
  }

  get errors(): typeof Stripe.errors {
    if (this.package === null) throw new Error('The payment provider is asked before the boot.');
    return this.package.Stripe.errors;
  }
}

function addressOf(url: string | undefined) {
  if (url === undefined) return {};
  const { hostname: host, port, protocol } = new URL(url);
  const scheme = protocol === 'https:' ? ('https' as const) : ('http' as const);
  return { host, port: port === '' ? (scheme === 'https' ? 443 : 80) : Number(port), protocol: scheme };
}
