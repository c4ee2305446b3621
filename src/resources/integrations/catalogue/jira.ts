import type { IncomingHttpHeaders } from 'node:http';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { type HookRequest, type IntegrationDescription, IntegrationProvider } from '../integration-provider.js';
import { eventList, eventOf, textAt } from './payload.js';
import { headerOf, hexDigest, isSigned } from './signatures.js';

const CHANGES = (what: string) => ({
  created: `${what} was created.`,
  updated: `${what} was changed.`,
  deleted: `${what} was deleted.`,
});

const DESCRIPTION: IntegrationDescription = {
  slug: 'jira',
  name: 'Jira',
  description: 'Issues, comments, sprints and versions of a Jira site.',
  category: 'issue_tracking',
  triggerEvents: eventList({
    issue: {
      ...CHANGES('An issue'),
      updated: 'An issue was changed; `changelog.items` says what, such as its status.',
    },
    comment: CHANGES('A comment on an issue'),
    worklog: CHANGES('An entry of a work log'),
    attachment: { created: 'A file was attached to an issue.', deleted: 'A file of an issue was deleted.' },
    issuelink: { created: 'Two issues were linked.', deleted: 'A link between two issues was deleted.' },
    issue_property: { set: 'A property of an issue was set.', deleted: 'A property of an issue was deleted.' },
    sprint: {
      ...CHANGES('A sprint'),
      started: 'A sprint was started.',
      closed: 'A sprint was closed.',
    },
    board: { ...CHANGES('A board'), configuration_changed: 'The configuration of a board was changed.' },
    version: {
      ...CHANGES('A version'),
      released: 'A version was released.',
      unreleased: 'The release of a version was taken back.',
      moved: 'A version was moved.',
    },
    project: {
      ...CHANGES('A project'),
      soft_deleted: 'A project was moved to the trash.',
      restored_deleted: 'A project was taken out of the trash.',
      archived: 'A project was archived.',
      restored_archived: 'A project was taken out of the archive.',
    },
    user: CHANGES('A user'),
  }),
  signsId: false,
};

/**
 * Webhooks of Jira Cloud and Data Center that have a secret (developer.atlassian.com, "Webhooks", "Secure admin webhooks"). A
 * delivery that is sent again keeps its signature and its `X-Atlassian-Webhook-Identifier`, which is not signed.
 */
@Plugin(IntegrationProvider, 'jira')
export class JiraProvider extends IntegrationProvider {
  describe() {
    return DESCRIPTION;
  }

  verify({ headers, body }: HookRequest, secrets: readonly string[]) {
    return isSigned(secrets, [body], [hexDigest(headerOf(headers, 'x-hub-signature'), 'sha256=')]);
  }

  parseEvent(headers: IncomingHttpHeaders, payload: unknown) {
    const id = headerOf(headers, 'x-atlassian-webhook-identifier');
    // `jira:issue_created`, `comment_created`, `issue_property_set`, `board_configuration_changed`
    const name = textAt(payload, 'webhookEvent')?.replace(/^jira:/, '');
    const thing = name === undefined ? undefined : THINGS.find((one) => name.startsWith(`${one}_`));
    return thing === undefined ? eventOf(id, name) : eventOf(id, thing, name?.slice(thing.length + 1));
  }
}

/** The longest first: `issue_property_set` is no action of an issue. */
const THINGS = [...new Set(DESCRIPTION.triggerEvents.map(({ name }) => name.split('.')[0] ?? ''))].sort(
  (a, b) => b.length - a.length,
);
