import type { IncomingHttpHeaders } from 'node:http';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { type HookRequest, type IntegrationDescription, IntegrationProvider } from '../integration-provider.js';
import { eventList, eventOf, textAt } from './payload.js';
import { headerOf, hexDigest, isSigned } from './signatures.js';

const DESCRIPTION: IntegrationDescription = {
  slug: 'sentry',
  name: 'Sentry',
  description: 'Issues, errors, alerts and comments of a Sentry organization.',
  category: 'monitoring',
  triggerEvents: eventList({
    issue: {
      created: 'An issue was seen for the first time.',
      assigned: 'An issue was assigned.',
      resolved: 'An issue was resolved.',
      unresolved: 'An issue is open again.',
      archived: 'An issue was archived.',
      ignored: 'An issue was ignored (the older word for archived).',
    },
    error: { created: 'An error arrived. There may be very many of them.' },
    event_alert: { triggered: 'A rule for issues raised an alert.' },
    metric_alert: {
      critical: 'A figure is above its critical limit.',
      warning: 'A figure is above its limit for a warning.',
      resolved: 'A figure is as it should be again.',
    },
    comment: {
      created: 'An issue was commented on.',
      updated: 'A comment on an issue was changed.',
      deleted: 'A comment on an issue was deleted.',
    },
    installation: { created: 'The integration was installed.', deleted: 'The integration was uninstalled.' },
  }),
  signsId: false,
};

/**
 * Webhooks of an integration of a Sentry organization, signed with its client secret (docs.sentry.io, "Integration platform webhooks").
 * `Sentry-Hook-Timestamp` and `Request-ID` are not signed.
 */
@Plugin(IntegrationProvider, 'sentry')
export class SentryProvider extends IntegrationProvider {
  describe() {
    return DESCRIPTION;
  }

  verify({ headers, body }: HookRequest, secrets: readonly string[]) {
    return isSigned(secrets, [body], [hexDigest(headerOf(headers, 'sentry-hook-signature'))]);
  }

  parseEvent(headers: IncomingHttpHeaders, payload: unknown) {
    return eventOf(
      headerOf(headers, 'request-id'),
      headerOf(headers, 'sentry-hook-resource'),
      textAt(payload, 'action'),
    );
  }
}
