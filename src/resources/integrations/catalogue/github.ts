import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { type HookRequest, type IntegrationDescription, IntegrationProvider } from '../integration-provider.js';
import { GITHUB_EVENTS } from './github-events.js';
import { eventList, eventOf, handshake, textAt } from './payload.js';
import { headerOf, hexDigest, isSigned, signed } from './signatures.js';

const DESCRIPTION: IntegrationDescription = {
  slug: 'github',
  name: 'GitHub',
  description: 'Pushes, pull requests, issues, checks and releases of repositories.',
  category: 'source_control',
  triggerEvents: eventList(GITHUB_EVENTS),
  signsId: false,
  form: 'Set "Content type" of the webhook to application/json at GitHub.',
};

/** Webhooks of repositories, organizations and apps (docs.github.com, "Validating webhook deliveries"). The content type must be JSON. */
@Plugin(IntegrationProvider, 'github')
export class GithubProvider extends IntegrationProvider {
  describe() {
    return DESCRIPTION;
  }

  verify({ headers, body }: HookRequest, secrets: readonly string[]) {
    return isSigned(secrets, [body], [hexDigest(headerOf(headers, 'x-hub-signature-256'), 'sha256=')]);
  }

  parseEvent(headers: IncomingHttpHeaders, payload: unknown) {
    const event = headerOf(headers, 'x-github-event');
    // GitHub looks at the status alone.
    if (event === 'ping') return handshake({ accepted: true });
    // The action of a repository_dispatch is any text of its sender, so that a filter must ask for it.
    const action = event === 'repository_dispatch' ? undefined : textAt(payload, 'action');
    return eventOf(headerOf(headers, 'x-github-delivery'), event, action);
  }

  override testDelivery(secret: string) {
    const text = JSON.stringify({ zen: 'A test of this connection.' });
    const headers = {
      'x-github-event': 'ping',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${signed(secret, text)}`,
    };
    return { headers, body: Buffer.from(text) };
  }
}
