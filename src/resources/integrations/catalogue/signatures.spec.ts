import { createServer, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hookFixture, type SignedDelivery, signHook } from '../../../../test/harness/hook-signing.js';
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
const OTHER = 'another secret';
const SIGNING = 'whsec_plJ3nmyCDGBKInavdOK15jsl';
const OTHER_SIGNING = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX';

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

/** A scheme, with one delivery for it; GitLab has two. `toleranceMs`: of a scheme that signs a time. */
const SCHEMES = [
  { scheme: 'GitHub', slug: 'github', name: 'push', header: 'x-hub-signature-256', secret: SECRET, other: OTHER },
  { scheme: 'GitLab, secret token', slug: 'gitlab', name: 'push', header: 'x-gitlab-token', secret: SECRET, other: OTHER, unsigned: true },
  { scheme: 'GitLab, signing token', slug: 'gitlab', name: 'push', header: 'webhook-signature', secret: SIGNING, other: OTHER_SIGNING, toleranceMs: 300_000 },
  { scheme: 'Jira', slug: 'jira', name: 'issue-updated', header: 'x-hub-signature', secret: SECRET, other: OTHER },
  { scheme: 'Linear', slug: 'linear', name: 'issue-update', header: 'linear-signature', secret: SECRET, other: OTHER, toleranceMs: 60_000 },
  { scheme: 'PagerDuty', slug: 'pagerduty', name: 'incident-triggered', header: 'x-pagerduty-signature', secret: SECRET, other: OTHER },
  { scheme: 'Sentry', slug: 'sentry', name: 'issue-created', header: 'sentry-hook-signature', secret: SECRET, other: OTHER },
  { scheme: 'Slack', slug: 'slack', name: 'app-mention', header: 'x-slack-signature', secret: SECRET, other: OTHER, toleranceMs: 300_000 },
  { scheme: 'Standard Webhooks', slug: 'webhook', name: 'received', header: 'webhook-signature', secret: SIGNING, other: OTHER_SIGNING, toleranceMs: 300_000 },
]; // prettier-ignore

afterAll(() => thread.onApplicationShutdown());

describe.each(SCHEMES)(
  'A delivery of $scheme (contract §13)',
  ({ slug, name, header, secret, other, toleranceMs, unsigned }) => {
    const fixture = hookFixture(slug, name);
    const verify = ({ headers, body }: SignedDelivery, secrets = [secret], receivedAt = NOW) =>
      provider(slug).verify({ headers, body, receivedAt }, secrets);
    let delivery: SignedDelivery;
    beforeAll(async () => {
      delivery = await signHook(fixture, secret, NOW);
    });
    const without = (left: string) => ({
      ...delivery,
      headers: { ...delivery.headers, [left]: undefined as unknown as string },
    });

    it('is taken when it is signed with the secret, or with one of two', async () => {
      expect(await verify(delivery)).toBe(true);
      expect(await verify(delivery, [other, secret])).toBe(true);
      expect(await verify(delivery, [secret, other])).toBe(true);
    });

    it('is not taken with another secret, with none, and with an empty one', async () => {
      expect(await verify(delivery, [other])).toBe(false);
      expect(await verify(delivery, [other, other])).toBe(false);
      expect(await verify(delivery, [])).toBe(false);
      expect(await verify(delivery, [''])).toBe(false);
      expect(await verify({ ...delivery, headers: { ...delivery.headers, [header]: '' } }, [''])).toBe(false);
    });

    it('is not taken without one of the headers that its scheme needs', async () => {
      const needed = Object.keys(delivery.headers).filter(
        (one) => fixture.headers[one] === undefined || one === 'webhook-id',
      );
      expect(needed).toContain(header);
      for (const one of needed) expect([one, await verify(without(one))]).toEqual([one, false]);
    });

    it('is not taken with a signature that is cut, longer, of other letters, or no signature', async () => {
      const given = delivery.headers[header] ?? '';
      const changed = given.slice(0, -3) + (given.at(-3) === '0' ? '1' : '0') + given.slice(-2);
      for (const value of [given.slice(0, -1), given.slice(1), `${given}0`, changed, 'x', '=', 'v1,', 'sha256=', '€']) {
        expect([value, await verify({ ...delivery, headers: { ...delivery.headers, [header]: value } })]).toEqual([
          value,
          false,
        ]);
      }
    });

    if (unsigned !== true) {
      it('is not taken when its body is cut, written anew, or another one', async () => {
        const value = JSON.parse(delivery.body.toString()) as object;
        const bodies = {
          cut: delivery.body.subarray(0, -1),
          longer: Buffer.concat([delivery.body, Buffer.from('\n')]),
          'written anew': Buffer.from(JSON.stringify(value, null, 1)),
          escaped: Buffer.from(JSON.stringify(value).replace(/[^\0-~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`) + ' '), // prettier-ignore
          latin1: Buffer.from(`${JSON.stringify(value)}ä`, 'latin1'),
          another: Buffer.from('{"action":"opened"}'),
          empty: Buffer.alloc(0),
        };
        for (const [how, body] of Object.entries(bodies))
          expect([how, await verify({ ...delivery, body })]).toEqual([how, false]);
      });
    }

    it('is judged alike whatever its content type, and whatever the letters of the names of its headers', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', '']) {
        expect(await verify({ ...delivery, headers: { ...delivery.headers, 'content-type': type } })).toBe(true);
      }
      const asSent = Object.entries(delivery.headers).map(([key, value]) => [key.toUpperCase(), value] as const);
      expect(await verify({ ...delivery, headers: await throughHttp(asSent) })).toBe(true);
    });

    it('is not taken with a signature that was sent twice, unless its scheme has lists', async () => {
      const twice = [...Object.entries(delivery.headers), [header, delivery.headers[header] ?? ''] as const];
      const hasLists = header === 'webhook-signature' || slug === 'pagerduty';
      expect(await verify({ ...delivery, headers: await throughHttp(twice) })).toBe(hasLists);
    });

    if (toleranceMs !== undefined) {
      it('is taken up to its tolerance before and after it was sent, and not a second beyond', async () => {
        const around = async (ms: number) => verify(delivery, [secret], new Date(NOW.getTime() + ms));
        expect(await around(toleranceMs - 1_000)).toBe(true);
        expect(await around(1_000 - toleranceMs)).toBe(true);
        expect(await around(toleranceMs + 1_000)).toBe(false);
        expect(await around(-toleranceMs - 1_000)).toBe(false);
      });

      it('is not taken under another time than the signed one', async () => {
        for (const one of ['webhook-timestamp', 'x-slack-request-timestamp'].filter((key) => key in delivery.headers)) {
          const seconds = Number(delivery.headers[one]);
          for (const value of [
            `${seconds + 1}`,
            `${seconds}.0`,
            ` ${seconds}`,
            `0${seconds}`,
            `+${seconds}`,
            '0',
            '-1',
            'now',
            '9'.repeat(400),
          ]) {
            expect([value, await verify({ ...delivery, headers: { ...delivery.headers, [one]: value } })]).toEqual([
              value,
              false,
            ]);
          }
        }
      });
    } else {
      it('is taken however old it is: nothing signs a time', async () => {
        expect(await verify(delivery, [secret], new Date('2030-01-01'))).toBe(true);
      });
    }

    it('of 25 MiB is verified in slices: others have their turns', async () => {
      const long = await signHook(
        { ...fixture, body: { ...fixture.body, filling: 'x'.repeat(25 * 1024 * 1024 - 5_000) } },
        secret,
        NOW,
      );
      let turns = 0;
      let next = setImmediate(function turn() {
        turns++;
        next = setImmediate(turn);
      });
      expect(await verify(long)).toBe(true);
      clearImmediate(next);
      if (unsigned !== true) expect(turns).toBeGreaterThan(20);
      long.body[long.body.length - 3] = 0x79;
      expect(await verify(long)).toBe(unsigned === true);
    });
  },
);

/** As Node gives them to a service that they are sent to. */
async function throughHttp(sent: (readonly [string, string])[]): Promise<Record<string, string>> {
  let received: IncomingHttpHeaders = {};
  const server = createServer((req, res) => {
    received = req.headers;
    res.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve, reject) => {
    const headers = ['Host', '127.0.0.1', 'Connection', 'close', ...sent.flat()];
    httpRequest({ host: '127.0.0.1', port, headers }, (res) => res.resume().on('end', resolve))
      .on('error', reject)
      .end();
  });
  await new Promise((resolve) => server.close(resolve));
  return received as Record<string, string>;
}
