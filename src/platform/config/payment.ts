// How workspaces pay (reference §14): `billing` of CONFIG_FILE.
import { z } from 'zod';

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable is expected');
const price = z.string().regex(/^price_\w{1,100}$/, 'the id of a price is expected, such as price_1Abc');
/** US dollars and cents: a card is charged whole cents, from half a dollar on. */
const amount = z
  .string()
  .regex(/^\d{1,6}\.\d\d$/, 'US dollars with two decimals are expected, such as "10.00"')
  .refine((text) => Number(text) >= 0.5, 'at least "0.50" is expected');

export const paymentSchema = z
  .strictObject({
    provider: z.literal('stripe', { error: "'stripe' is expected" }),
    /** The names of the variables with the secret key of the API, and with the secret of the address for events. */
    secretKeyEnv: variable,
    webhookSecretEnv: variable,
    /** The price of each plan that is sold. */
    prices: z.strictObject({ paid: price }).partial(),
    topUps: z
      .array(amount)
      .max(20, 'at most 20 amounts are expected')
      .refine((all) => new Set(all).size === all.length, 'each amount is expected once')
      .default([]),
    /** The name of the events of a meter, in which the cost of each call of a model is reported, in micro-dollars. */
    meter: z.string().min(1).max(100).optional(),
    /** The price of what the meter counts: a subscription has it beside that of the plan. */
    meterPrice: price.optional(),
    /** How long the plan stays while a payment is late. */
    graceDays: z.int().min(0).max(365).default(7),
    /** Where the API is, when not at Stripe itself: a proxy, or a server for tests. */
    baseUrl: z
      .url({ protocol: /^https?$/, error: 'a URL that begins with http:// or https:// is expected' })
      .optional(),
  })
  .refine(({ prices, topUps }) => Object.keys(prices).length + topUps.length > 0, {
    message: 'something to sell is expected: a price of a plan, or an amount of a top-up',
    path: ['prices'],
  })
  .refine(({ meter, meterPrice }) => meterPrice === undefined || meter !== undefined, {
    message: 'it goes with `meter` alone',
    path: ['meterPrice'],
  });

export type PaymentConfig = z.output<typeof paymentSchema>;

/** What the environment has for {@link PaymentConfig}. */
export interface PaymentSecrets {
  secretKey: string;
  webhookSecret: string;
}
