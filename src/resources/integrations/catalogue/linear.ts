import type { IncomingHttpHeaders } from 'node:http';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { type HookRequest, type IntegrationDescription, IntegrationProvider } from '../integration-provider.js';
import { HookBodyError, HookThread } from '../hook-thread.js';
import { eventList, eventOf, textAt, valueAt } from './payload.js';
import { headerOf, hexDigest, isFresh, isSigned } from './signatures.js';

const TOLERANCE_MS = 60_000;

const CHANGES = (what: string) => ({
  create: `${what} was created.`,
  update: `${what} was changed; \`updatedFrom\` has what it was before.`,
  remove: `${what} was deleted.`,
});

const DESCRIPTION: IntegrationDescription = {
  slug: 'linear',
  name: 'Linear',
  description: 'Issues, comments, projects and cycles of a Linear workspace.',
  category: 'issue_tracking',
  triggerEvents: eventList({
    issue: CHANGES('An issue'),
    comment: CHANGES('A comment'),
    issue_label: CHANGES('A label'),
    attachment: CHANGES('An attachment of an issue'),
    reaction: CHANGES('A reaction'),
    project: CHANGES('A project'),
    project_update: CHANGES('An update of a project'),
    project_label: CHANGES('A label of projects'),
    initiative: CHANGES('An initiative'),
    initiative_update: CHANGES('An update of an initiative'),
    cycle: CHANGES('A cycle'),
    document: CHANGES('A document'),
    customer: CHANGES('A customer'),
    customer_need: CHANGES('The request of a customer'),
    user: CHANGES('A user'),
    issue_sla: {
      set: 'The time in which an issue is due was set.',
      high_risk: 'The time of an issue has nearly run out.',
      breached: 'The time of an issue has run out.',
    },
    agent_session_event: {
      created: 'An agent was mentioned, or an issue was given to it.',
      prompted: 'Somebody wrote to an agent.',
    },
  }),
  signsId: true,
};

/**
 * Webhooks of a Linear workspace (linear.app/developers/webhooks). The time, `webhookTimestamp`, stands in the body and is signed with it:
 * a body is read for it once its signature is known to be right.
 */
@Plugin(IntegrationProvider, 'linear')
export class LinearProvider extends IntegrationProvider {
  constructor(private readonly thread: HookThread) {
    super();
  }

  describe() {
    return DESCRIPTION;
  }

  async verify({ headers, body, receivedAt }: HookRequest, secrets: readonly string[]) {
    if (!(await isSigned(secrets, [body], [hexDigest(headerOf(headers, 'linear-signature'))]))) return false;
    try {
      const { payload } = await this.thread.read(body);
      const signedAt = valueAt(payload, 'webhookTimestamp');
      return typeof signedAt === 'number' && isFresh(signedAt, receivedAt, TOLERANCE_MS);
    } catch (error) {
      if (error instanceof HookBodyError) return false;
      throw error;
    }
  }

  parseEvent(headers: IncomingHttpHeaders, payload: unknown) {
    const [type, action] = [textAt(payload, 'type'), textAt(payload, 'action')].map(snakeCase);
    return eventOf(headerOf(headers, 'linear-delivery'), type, action);
  }
}

/** `IssueLabel` → `issue_label`, `IssueSLA` → `issue_sla`, `highRisk` → `high_risk`. */
function snakeCase(name: string | undefined): string | undefined {
  return name?.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase();
}
