import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnv } from './env.js';

const BILLING = {
  provider: 'stripe',
  secretKeyEnv: 'STRIPE_KEY',
  webhookSecretEnv: 'STRIPE_HOOK',
  prices: { paid: 'price_1' },
  topUps: ['10.00'],
};
const SECRETS = { STRIPE_KEY: 'sk_1', STRIPE_HOOK: 'whsec_1' };

describe('billing of CONFIG_FILE (reference §14, §16)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payment-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const read = (billing: object | undefined, env: Record<string, string> = SECRETS) => {
    const file = join(folder, 'config.json');
    writeFileSync(file, JSON.stringify(billing === undefined ? {} : { billing }));
    return readEnv({ CONFIG_FILE: file, ...env });
  };

  it('has its secrets in the environment, and seven days of grace', () => {
    const { file, paymentSecrets } = read(BILLING);
    expect(file.billing).toEqual({ ...BILLING, graceDays: 7 });
    expect(paymentSecrets).toEqual({ secretKey: 'sk_1', webhookSecret: 'whsec_1' });
  });

  it('may be absent, and asks for nothing then', () => {
    const { file, paymentSecrets } = read(undefined, {});
    expect([file.billing, paymentSecrets]).toEqual([undefined, null]);
  });

  it.each([
    [{ provider: 'paypal' }, "CONFIG_FILE, billing.provider: 'stripe' is expected"],
    [{ prices: { paid: 'prod_1' } }, 'CONFIG_FILE, billing.prices.paid: the id of a price is expected, such as price_1Abc'],
    [{ prices: { free: 'price_1' } }, 'CONFIG_FILE, billing.prices: Unrecognized key: "free"'],
    [{ prices: {}, topUps: [] }, 'CONFIG_FILE, billing.prices: something to sell is expected: a price of a plan, or an amount of a top-up'],
    [{ topUps: ['10'] }, 'CONFIG_FILE, billing.topUps.0: US dollars with two decimals are expected, such as "10.00"'],
    [{ topUps: ['0.49'] }, 'CONFIG_FILE, billing.topUps.0: at least "0.50" is expected'],
    [{ topUps: ['10.00', '10.00'] }, 'CONFIG_FILE, billing.topUps: each amount is expected once'],
    [{ meterPrice: 'price_2' }, 'CONFIG_FILE, billing.meterPrice: it goes with `meter` alone'],
    [{ secretKey: 'sk_1' }, 'CONFIG_FILE, billing: Unrecognized key: "secretKey"'],
  ])('with %j stops the boot', (wrong, message) => {
    expect(() => read({ ...BILLING, ...wrong })).toThrow(message);
  }); // prettier-ignore

  it.each(['STRIPE_KEY', 'STRIPE_HOOK'] as const)('without a value of %s stops the boot', (name) => {
    const field = name === 'STRIPE_KEY' ? 'secretKeyEnv' : 'webhookSecretEnv';
    expect(() => read(BILLING, { ...SECRETS, [name]: '' })).toThrow(
      new RegExp(`^${name}: the secret .* is expected, because CONFIG_FILE names it as billing.${field}.$`),
    );
  });

  it('with another provider in BILLING stops the boot', () => {
    expect(() => read(BILLING, { ...SECRETS, BILLING: 'invoices' })).toThrow(
      'BILLING: no value is expected, because CONFIG_FILE has billing by stripe.',
    );
  });
});
