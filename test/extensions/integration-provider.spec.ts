// The ninth provider, of docs/seams.md.
import { createHmac } from 'node:crypto';
import { Test } from '@nestjs/testing';
import { PluginsModule } from '../../src/platform/plugins/plugins.module.js';
import { Catalogue } from '../../src/resources/integrations/catalogue/catalogue.js';
import { CatalogueModule } from '../../src/resources/integrations/catalogue/catalogue.module.js';
import { STRIPE } from './stripe.js';

describe('A provider of an extension (docs/seams.md)', () => {
  const NOW = new Date('2026-11-23T12:00:00Z');
  const body = Buffer.from('{"id":"evt_1NG8Du2eZvKYlo2CUI79vXWy","object":"event","type":"invoice.payment_failed"}');
  const sign = (secret: string, at: Date) => {
    const time = at.getTime() / 1000;
    return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')}`;
  };
  let catalogue: Catalogue;

  beforeAll(async () => {
    const made = await Test.createTestingModule({ imports: [PluginsModule, CatalogueModule, STRIPE.module] }).compile();
    await made.init();
    catalogue = made.get(Catalogue, { strict: false });
  });

  it('is in the catalogue with its events', () => {
    expect(catalogue.list().map(({ slug }) => slug)).toContain('stripe');
    expect(catalogue.matches('stripe.invoice.payment_failed')).toBe(true);
    expect(catalogue.matches('stripe.charge.dispute.*')).toBe(true);
  });

  it('verifies its deliveries and says what they are', async () => {
    const stripe = catalogue.get('stripe');
    const verify = (signature: string) =>
      stripe?.verify({ headers: { 'stripe-signature': signature }, body, receivedAt: NOW }, ['whsec_new', 'whsec_old']);
    expect(await verify(sign('whsec_old', NOW))).toBe(true);
    expect(await verify(sign('whsec_wrong', NOW))).toBe(false);
    expect(await verify(sign('whsec_old', new Date(NOW.getTime() - 301_000)))).toBe(false);
    expect(await verify(sign('whsec_old', new Date(NOW.getTime() + 301_000)))).toBe(false);
    expect(await verify('')).toBe(false);
    const deliveryId = 'evt_1NG8Du2eZvKYlo2CUI79vXWy';
    const parsed = { type: 'event', event: 'invoice.payment_failed', deliveryId };
    expect(stripe?.parseEvent({}, JSON.parse(body.toString()))).toEqual(parsed);
  });
});
