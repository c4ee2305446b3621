import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { type HookRequest, type IntegrationDescription, IntegrationProvider } from '../integration-provider.js';
import { eventList, eventOf, textAt } from './payload.js';
import { headerOf } from './signatures.js';
import { isSigningSecret, isStandardWebhook, SIGNING_SECRET } from './standard-webhooks.js';

const STATES = (what: string) => ({
  created: `${what} was created.`,
  pending: `${what} waits for a runner.`,
  running: `${what} runs.`,
  success: `${what} succeeded.`,
  failed: `${what} failed.`,
  canceled: `${what} was canceled.`,
  skipped: `${what} was skipped.`,
  manual: `${what} waits for somebody to start it.`,
});
const CHANGES = (what: string) => ({
  create: `${what} was created.`,
  update: `${what} was changed.`,
  delete: `${what} was deleted.`,
});
const ISSUE = (what: string) => ({
  open: `${what} was opened.`,
  reopen: `${what} was opened again.`,
  update: `${what} was changed.`,
  close: `${what} was closed.`,
});

const DESCRIPTION: IntegrationDescription = {
  slug: 'gitlab',
  name: 'GitLab',
  description: 'Pushes, merge requests, issues, pipelines and releases of projects and groups.',
  category: 'source_control',
  triggerEvents: eventList({
    push: 'Commits were pushed, or a branch was created or deleted.',
    tag_push: 'A tag was pushed or deleted.',
    merge_request: {
      ...ISSUE('A merge request'),
      approval: 'Somebody approved a merge request.',
      unapproval: 'Somebody took back the approval of a merge request.',
      approved: 'A merge request has all its approvals.',
      unapproved: 'A merge request no longer has all its approvals.',
      merge: 'A merge request was merged.',
    },
    issue: ISSUE('An issue'),
    work_item: ISSUE('A work item'),
    note: {
      create:
        'A commit, merge request, issue or snippet was commented on; `object_attributes.noteable_type` says what.',
      update: 'A comment was changed.',
    },
    pipeline: STATES('A pipeline'),
    build: STATES('A job of a pipeline'),
    deployment: {
      running: 'A deployment began.',
      success: 'A deployment succeeded.',
      failed: 'A deployment failed.',
      canceled: 'A deployment was canceled.',
    },
    release: CHANGES('A release'),
    wiki_page: CHANGES('A page of a wiki'),
    milestone: {
      create: 'A milestone was created.',
      close: 'A milestone was closed.',
      reopen: 'A milestone was opened again.',
    },
    feature_flag: 'A feature flag was turned on or off.',
    emoji: { award: 'An emoji was given.', revoke: 'An emoji was taken back.' },
    vulnerability: 'A vulnerability was found or changed.',
  }),
  // That of a secret token does not.
  signsId: false,
  secret: {
    form: new RegExp(`^(?!whsec_)|${SIGNING_SECRET.form.source}`),
    words: 'a secret token, or a signing token: whsec_ and Base64',
  },
};

/**
 * Webhooks of projects and groups (docs.gitlab.com, "Webhooks"). A secret that begins with `whsec_` is a signing token: GitLab signs by
 * Standard Webhooks. Any other one is a secret token, which GitLab sends along in `X-Gitlab-Token`, and signs nothing.
 */
@Plugin(IntegrationProvider, 'gitlab')
export class GitlabProvider extends IntegrationProvider {
  describe() {
    return DESCRIPTION;
  }

  async verify(request: HookRequest, secrets: readonly string[]) {
    const token = headerOf(request.headers, 'x-gitlab-token');
    const known = secrets.filter((one) => one !== '' && !isSigningSecret(one)).map((one) => isEqual(one, token ?? ''));
    return (await isStandardWebhook(request, secrets.filter(isSigningSecret))) || known.includes(true);
  }

  parseEvent(headers: IncomingHttpHeaders, payload: unknown) {
    const deliveryId = headerOf(headers, 'webhook-id') ?? headerOf(headers, 'idempotency-key');
    const kind = textAt(payload, 'object_kind');
    return eventOf(deliveryId, kind, actionOf(kind, payload));
  }
}

function actionOf(kind: string | undefined, payload: unknown): string | undefined {
  switch (kind) {
    case 'pipeline':
      return textAt(payload, 'object_attributes', 'status');
    case 'build':
      return textAt(payload, 'build_status');
    case 'deployment':
      return textAt(payload, 'status');
    case 'release':
    case 'milestone':
      return textAt(payload, 'action');
    case 'emoji':
      return textAt(payload, 'event_type');
    case 'note':
      // Before there were changes of comments, there was no action.
      return textAt(payload, 'object_attributes', 'action') ?? 'create';
    case 'merge_request':
    case 'issue':
    case 'work_item':
    case 'wiki_page':
      return textAt(payload, 'object_attributes', 'action');
    default:
      return undefined;
  }
}

/** In constant time, whatever the lengths. */
function isEqual(secret: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(secret), digest(token));
}
