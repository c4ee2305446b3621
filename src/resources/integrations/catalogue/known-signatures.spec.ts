import { sign as signGithub, verify as verifyGithub } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { HOOK_FIXTURES, hookFixture, signHook } from '../../../../test/harness/hook-signing.js';
import { HookThread } from '../hook-thread.js';
import type { IntegrationProvider } from '../integration-provider.js';
import { GithubProvider } from './github.js';
import { GitlabProvider } from './gitlab.js';
import { JiraProvider } from './jira.js';
import { LinearProvider } from './linear.js';
import { PagerdutyProvider } from './pagerduty.js';
import { SentryProvider } from './sentry.js';
import { SlackProvider } from './slack.js';
import { WebhookProvider } from './webhook.js';

const NOW = new Date('2026-11-23T12:00:00.250Z');
const SECRET = 'a secret of the tests';
const SIGNING = 'whsec_plJ3nmyCDGBKInavdOK15jsl';

const thread = new HookThread();
const PROVIDERS: Record<string, IntegrationProvider> = {
  github: new GithubProvider(),
  gitlab: new GitlabProvider(),
  jira: new JiraProvider(),
  linear: new LinearProvider(thread),
  pagerduty: new PagerdutyProvider(),
  sentry: new SentryProvider(),
  slack: new SlackProvider(),
  webhook: new WebhookProvider(),
};
const provider = (slug: string) => PROVIDERS[slug] as IntegrationProvider;

describe('A signature (contract §13)', () => {
  afterAll(() => thread.onApplicationShutdown());
  const of = (headers: Record<string, string>, body: string, receivedAt = NOW) => ({
    headers,
    body: Buffer.from(body),
    receivedAt,
  });

  it('is the one that GitHub documents', async () => {
    const secret = "It's a Secret to Everybody";
    const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    expect(await signGithub(secret, 'Hello, World!')).toBe(signature);
    expect(await provider('github').verify(of({ 'x-hub-signature-256': signature }, 'Hello, World!'), [secret])).toBe(
      true,
    );
  });

  it('is the one that Slack documents', async () => {
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
    const headers = {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    };
    const request = of(headers, body, new Date(1_531_420_618_000));
    expect(await provider('slack').verify(request, ['8f742231b10e8888abcd99yyyzzz85a5'])).toBe(true);
  });

  it('of GitHub is judged as its own library does', async () => {
    for (const body of ['{}', '{"a":"ä€😀"}', ' {"a":1}\n', '{"a":"\\u00e4"}']) {
      const signature = await signGithub(SECRET, body);
      for (const given of [
        signature,
        signature.replace('sha256', 'sha1'),
        signature.slice(7),
        `${signature} `,
        signature.toUpperCase(),
      ]) {
        const theirs = await verifyGithub(SECRET, body, given);
        expect([given, await provider('github').verify(of({ 'x-hub-signature-256': given }, body), [SECRET])]).toEqual([
          given,
          theirs,
        ]);
      }
    }
  });

  it('of Standard Webhooks is judged as its own library does', async () => {
    const at = new Date();
    const seconds = String(Math.floor(at.getTime() / 1000));
    for (const body of ['{}', '{"a":"ä€😀"}', '[1]']) {
      for (const key of [SIGNING, SIGNING.slice(6)]) {
        const signature = new Webhook(key).sign('msg_1', at, body);
        for (const given of [
          signature,
          `v1,AAAA ${signature}`,
          `${signature} v1a,AAAA`,
          signature.replace('v1', 'v2'),
          signature.slice(3),
          `${signature.slice(0, -1)}`,
          'v1,',
        ]) {
          const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': seconds, 'webhook-signature': given };
          let theirs = true;
          try {
            new Webhook(key).verify(body, headers);
          } catch {
            theirs = false;
          }
          expect([given, await provider('webhook').verify(of(headers, body, at), [key])]).toEqual([given, theirs]);
        }
      }
    }
  });

  it('of Standard Webhooks is no signature with a secret that is not Base64', async () => {
    const { headers, body } = await signHook(hookFixture('webhook', 'received'), SIGNING, NOW);
    for (const secret of ['whsec_', 'whsec_****', `${SIGNING}=`, `${SIGNING} `, 'a secret of the tests']) {
      expect(await provider('webhook').verify({ headers, body, receivedAt: NOW }, [secret])).toBe(false);
    }
  });

  it('of GitLab is needed when the secret is a signing token: the token alone is not enough', async () => {
    const { body, headers } = await signHook(hookFixture('gitlab', 'push'), SECRET, NOW);
    const asToken = { ...headers, 'x-gitlab-token': SIGNING };
    expect(await provider('gitlab').verify({ headers: asToken, body, receivedAt: NOW }, [SIGNING])).toBe(false);
    expect(await provider('gitlab').verify({ headers, body, receivedAt: NOW }, [SIGNING, SECRET])).toBe(true);
  });

  it('of PagerDuty may be any of its list', async () => {
    const { headers, body } = await signHook(hookFixture('pagerduty', 'incident-triggered'), SECRET, NOW);
    const signature = headers['x-pagerduty-signature'] ?? '';
    for (const [list, taken] of [
      [`v1=${'0'.repeat(64)},${signature}`, true],
      [`${signature}, v1=${'0'.repeat(64)}`, true],
      [`v2=${signature.slice(3)}`, false],
      [`v1=${'0'.repeat(64)}`, false],
    ] as const) {
      // prettier-ignore
      expect(await provider('pagerduty').verify({ headers: { 'x-pagerduty-signature': list }, body, receivedAt: NOW }, [SECRET])).toBe(taken);
    }
  });

  it('of Linear is none without a time in the body', async () => {
    const fixture = hookFixture('linear', 'issue-update');
    for (const webhookTimestamp of [undefined, null, String(NOW.getTime()), Infinity]) {
      const text = JSON.stringify({ ...fixture.body, webhookTimestamp });
      const { headers } = await signHook({ ...fixture, slug: 'sentry', body: JSON.parse(text) as object }, SECRET, NOW);
      const request = of({ 'linear-signature': headers['sentry-hook-signature'] ?? '' }, text);
      expect(await provider('linear').verify(request, [SECRET])).toBe(false);
    }
  });

  it('under an empty secret is none, for everybody can make it', async () => {
    for (const [slug, name] of [
      ['jira', 'issue-updated'],
      ['linear', 'issue-update'],
      ['pagerduty', 'incident-triggered'],
      ['sentry', 'issue-created'],
      ['slack', 'app-mention'],
      ['gitlab', 'push'],
    ] as const) {
      // prettier-ignore
      const { headers, body } = await signHook(hookFixture(slug, name), '', NOW);
      expect([slug, await provider(slug).verify({ headers, body, receivedAt: NOW }, [''])]).toEqual([slug, false]);
    }
  });

  it('of each delivery that is on record here is right', async () => {
    for (const fixture of HOOK_FIXTURES) {
      const secret = fixture.slug === 'webhook' ? SIGNING : SECRET;
      const { headers, body } = await signHook(fixture, secret, NOW);
      expect([fixture.name, await provider(fixture.slug).verify({ headers, body, receivedAt: NOW }, [secret])]).toEqual(
        [fixture.name, true],
      );
    }
  });
});
