import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { type HookRequest, type IntegrationDescription, IntegrationProvider } from '../integration-provider.js';
import { eventList, eventOf, handshake, textAt } from './payload.js';
import { headerOf, hexDigest, isSigned, signed } from './signatures.js';

const DESCRIPTION: IntegrationDescription = {
  slug: 'pagerduty',
  name: 'PagerDuty',
  description: 'Incidents and services of a PagerDuty account.',
  category: 'incident_management',
  triggerEvents: eventList({
    incident: {
      triggered: 'An incident was opened.',
      acknowledged: 'Somebody acknowledged an incident.',
      unacknowledged: 'The acknowledgement of an incident ran out or was taken back.',
      escalated: 'An incident was escalated.',
      delegated: 'An incident was handed to another escalation policy.',
      reassigned: 'An incident was assigned to somebody else.',
      priority_updated: 'The priority of an incident was changed.',
      incident_type_changed: 'The type of an incident was changed.',
      service_updated: 'An incident was moved to another service.',
      annotated: 'A note was added to an incident.',
      status_update_published: 'A status update of an incident was published.',
      resolved: 'An incident was resolved.',
      reopened: 'An incident was opened again.',
    },
    'incident.responder': {
      added: 'Somebody was asked to help with an incident.',
      replied: 'Somebody answered the request for help.',
    },
    'incident.conference_bridge': { updated: 'The conference of an incident was changed.' },
    'incident.custom_field_values': { updated: 'A custom field of an incident was changed.' },
    'incident.workflow': {
      started: 'A workflow of an incident began.',
      completed: 'A workflow of an incident ended.',
    },
    service: {
      created: 'A service was created.',
      updated: 'A service was changed.',
      deleted: 'A service was deleted.',
    },
    'service.custom_field_values': { updated: 'A custom field of a service was changed.' },
  }),
  // `event.id` stands in the body.
  signsId: true,
};

/**
 * Webhook subscriptions, version 3 (developer.pagerduty.com, "Verifying webhook signatures"). `X-PagerDuty-Signature` is a list, as
 * PagerDuty exchanges secrets too.
 */
@Plugin(IntegrationProvider, 'pagerduty')
export class PagerdutyProvider extends IntegrationProvider {
  describe() {
    return DESCRIPTION;
  }

  verify({ headers, body }: HookRequest, secrets: readonly string[]) {
    const given = (headerOf(headers, 'x-pagerduty-signature') ?? '').split(',');
    const digests = given.map((one) => hexDigest(one.trim(), 'v1='));
    return isSigned(secrets, [body], digests);
  }

  parseEvent(_headers: IncomingHttpHeaders, payload: unknown) {
    const type = textAt(payload, 'event', 'event_type');
    // "Send test event": PagerDuty looks at the status alone.
    if (type === 'pagey.ping') return handshake({ accepted: true });
    return eventOf(textAt(payload, 'event', 'id'), type);
  }

  override testDelivery(secret: string) {
    const text = JSON.stringify({ event: { id: randomUUID(), event_type: 'pagey.ping' } });
    return { headers: { 'x-pagerduty-signature': `v1=${signed(secret, text)}` }, body: Buffer.from(text) };
  }
}
