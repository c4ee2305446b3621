import { Module, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { HOOK_FIXTURES, hookFixture } from '../../../../test/harness/hook-signing.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { PluginsModule } from '../../../platform/plugins/plugins.module.js';
import { type IntegrationDescription, IntegrationProvider, type Parsed } from '../integration-provider.js';
import { Catalogue } from './catalogue.js';
import { CatalogueModule } from './catalogue.module.js';
import { matchesTrigger } from './matches-trigger.js';

async function catalogueWith(...others: Type[]): Promise<Catalogue> {
  @Module({ imports: [PluginsModule, CatalogueModule], providers: others })
  class AllModule {}
  const made = await Test.createTestingModule({ imports: [AllModule] }).compile();
  await made.init();
  return made.get(Catalogue, { strict: false });
}

describe('The catalogue of integrations (contract §13)', () => {
  let catalogue: Catalogue;
  beforeAll(async () => {
    catalogue = await catalogueWith();
  });

  const parse = (slug: string, headers: Record<string, string>, payload: unknown): Parsed => {
    const provider = catalogue.get(slug);
    if (provider === undefined) throw new Error(`No ${slug}.`);
    return provider.parseEvent(headers, payload);
  };

  it('has eight providers, by slug', () => {
    const slugs = ['github', 'gitlab', 'jira', 'linear', 'pagerduty', 'sentry', 'slack', 'webhook'];
    expect(catalogue.list().map(({ slug }) => slug)).toEqual(slugs);
    for (const slug of slugs) expect(catalogue.get(slug)).toBeInstanceOf(IntegrationProvider);
    expect(catalogue.get('constructor')).toBeUndefined();
  });

  it('describes each of them and their events in words', () => {
    for (const { name, description, category, triggerEvents } of catalogue.list()) {
      expect([name, description, category]).toEqual([expect.stringMatching(/^[A-Z]/), expect.stringMatching(/\.$/), expect.stringMatching(/^[a-z_]+$/)]); // prettier-ignore
      expect(triggerEvents.length).toBeGreaterThan(0);
      for (const event of triggerEvents) expect(event.description).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('says which signatures cover a time or the delivery id', () => {
    const covered = catalogue.list().filter(({ signsId }) => signsId);
    expect(covered.map(({ slug }) => slug)).toEqual(['linear', 'pagerduty', 'slack', 'webhook']);
  });

  it('knows the events that exist, also with * for the action', () => {
    for (const one of [
      'github.push',
      'github.pull_request.opened',
      'github.pull_request.*',
      'sentry.issue.created',
      'webhook.received',
      'slack.message.*',
      'pagerduty.incident.*',
      'pagerduty.incident.workflow.*',
    ]) {
      // prettier-ignore
      expect([one, catalogue.matches(one)]).toEqual([one, true]);
    }
    for (const one of [
      '',
      '*',
      '*.*',
      'github',
      'github.*',
      'github.push.*',
      'github.pull_request',
      'github.pull_request.*.*',
      'github.pull_request.open*',
      'github.*.opened',
      'github.nothing',
      'gitlab.pull_request.opened',
      'webhook.*',
      'webhook.sent',
      'GitHub.push',
      ' github.push',
      'github.push ',
      'github.constructor',
    ]) {
      // prettier-ignore
      expect([one, catalogue.matches(one)]).toEqual([one, false]);
    }
  });

  const fixtures = HOOK_FIXTURES.map(({ slug, name, ...fixture }) => [slug, name, fixture] as const);
  it.each(fixtures)('knows what %s sent: %s', (slug, _name, { event, deliveryId, headers, body }) => {
    const parsed = parse(slug, headers, body);
    if (event === null) return expect(parsed.type).toBe('handshake');
    expect(parsed).toEqual({ type: 'event', event, deliveryId });
    expect([event, catalogue.matches(`${slug}.${event}`)]).toEqual([event, true]);
  });

  it('answers a handshake as the provider prescribes', () => {
    const slack = hookFixture('slack', 'url-verification');
    const { challenge } = slack.body as { challenge: string };
    expect(parse('slack', {}, slack.body)).toEqual({ type: 'handshake', answer: { status: 200, body: { challenge } } });
    const accepted = { type: 'handshake', answer: { status: 200, body: { accepted: true } } };
    expect(parse('github', hookFixture('github', 'ping').headers, {})).toEqual(accepted);
    expect(parse('pagerduty', {}, hookFixture('pagerduty', 'ping').body)).toEqual(accepted);
  });

  it('takes the id of GitLab from the signed header, if there is one', () => {
    const { headers, body } = hookFixture('gitlab', 'push');
    expect(parse('gitlab', { ...headers, 'webhook-id': 'msg_1' }, body)).toMatchObject({ deliveryId: 'msg_1' });
  });

  it('calls what it does not know "unknown", and no id is better than one that is none', () => {
    const odd: unknown[] = [{}, [], null, 'text', 7, { action: 7, type: {}, event: [], webhookEvent: null }, { action: 'a\0b', type: 'A B', event: { event_type: '../x', type: 'é', id: '\ud800' }, webhookEvent: 'jira:', object_kind: 'x'.repeat(300) }]; // prettier-ignore
    const headers = { 'x-github-event': 'Ünknown event', 'x-github-delivery': 'with space', 'request-id': 'x'.repeat(201), 'sentry-hook-resource': '' }; // prettier-ignore
    for (const { slug } of catalogue.list().filter((one) => one.slug !== 'webhook')) {
      for (const payload of odd) {
        for (const given of [{}, headers]) {
          expect([slug, payload, parse(slug, given, payload)]).toEqual([slug, payload, { type: 'event', event: 'unknown', deliveryId: null }]); // prettier-ignore
        }
      }
    }
  });

  it('knows an action of which it has not heard as one of its event', () => {
    const parsed = parse('github', { 'x-github-event': 'pull_request' }, { action: 'newly_invented' });
    expect(parsed).toMatchObject({ event: 'pull_request.newly_invented' });
    expect(matchesTrigger('github.pull_request.*', 'github', 'pull_request.newly_invented')).toBe(true);
  });

  it.each([
    ['github.push', 'push', true],
    ['github.push', 'push.forced', false],
    ['github.pull_request.opened', 'pull_request.opened', true],
    ['github.pull_request.opened', 'pull_request.closed', false],
    ['github.pull_request.*', 'pull_request.closed', true],
    ['github.pull_request.*', 'pull_request', false],
    ['github.pull_request.*', 'pull_request_review.submitted', false],
    ['github.pull_request.*', 'pull_request.a.b', false],
    ['github.*', 'push', false],
    ['github.*', 'pull_request.opened', false],
    ['gitlab.push', 'push', false],
    ['*', 'push', false],
  ])('matches %s with %s: %s', (pattern, event, expected) => {
    expect(matchesTrigger(pattern, 'github', event)).toBe(expected);
  });

  describe('with a ninth provider', () => {
    const ninth = (name: string, described: Partial<IntegrationDescription>) => {
      @Plugin(IntegrationProvider, name)
      class Ninth extends IntegrationProvider {
        describe() {
          const triggerEvents = [{ name: 'call.ended', description: 'A call ended.' }];
          return {
            slug: name,
            name: 'Ninth',
            description: 'Calls.',
            category: 'other',
            triggerEvents,
            signsId: false,
            ...described,
          };
        }
        verify() {
          return false;
        }
        parseEvent(): Parsed {
          return { type: 'event', event: 'call.ended', deliveryId: null };
        }
      }
      return Ninth;
    };

    it('has it like the others', async () => {
      const all = await catalogueWith(ninth('ninth', {}));
      expect(all.list()).toHaveLength(9);
      expect(all.matches('ninth.call.*')).toBe(true);
    });

    it.each([
      ['ninth', { slug: 'other' }, `The integration Ninth is 'ninth' in @Plugin and 'other' by its slug.`],
      ['Ninth', {}, `The integration Ninth needs a slug of small letters, digits, _ and -, at most 40, not 'Ninth'.`],
      ['ninth', { triggerEvents: [{ name: 'Call Ended', description: '' }] }, `The integration Ninth has an event 'Call Ended'; small letters, digits and _ with points between are expected.`],
      ['ninth', { triggerEvents: Array(2).fill({ name: 'a', description: '' }) as [] }, `The integration Ninth has the event 'a' twice.`],
      ['github', {}, `Two plugins of IntegrationProvider are called 'github'`],
    ])('that cannot be, the boot stops: %s %j', async (name, described, message) => {
      await expect(catalogueWith(ninth(name, described))).rejects.toThrow(message);
    }); // prettier-ignore
  });
});
