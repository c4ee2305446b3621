import type { IncomingHttpHeaders } from 'node:http';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { type HookRequest, type IntegrationDescription, IntegrationProvider } from '../integration-provider.js';
import { eventList, eventOf } from './payload.js';
import { headerOf } from './signatures.js';
import { isStandardWebhook, SIGNING_SECRET } from './standard-webhooks.js';

const DESCRIPTION: IntegrationDescription = {
  slug: 'webhook',
  name: 'Webhook',
  description: 'Anything that sends JSON by the Standard Webhooks specification.',
  category: 'other',
  triggerEvents: eventList({ received: 'A delivery arrived. What it is about stands in its payload: use a filter.' }),
  signsId: true,
  secret: SIGNING_SECRET,
};

/** Whatever signs its deliveries by Standard Webhooks. All of them are the one event. */
@Plugin(IntegrationProvider, 'webhook')
export class WebhookProvider extends IntegrationProvider {
  describe() {
    return DESCRIPTION;
  }

  verify(request: HookRequest, secrets: readonly string[]) {
    return isStandardWebhook(request, secrets);
  }

  parseEvent(headers: IncomingHttpHeaders) {
    return eventOf(headerOf(headers, 'webhook-id'), 'received');
  }
}
