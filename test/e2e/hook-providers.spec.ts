import { createHmac, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember } from '../harness/client.js';
import { automationOn, connect, type Delivery, deliver, entries, github } from '../harness/hooks.js';

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');
const seconds = () => String(Math.floor(Date.now() / 1000));

interface Sent {
  event: string;
  body: object;
  headers: (secret: string, text: string) => Record<string, string>;
}

function standard(secret: string, text: string): Record<string, string> {
  const [id, now] = [randomUUID(), new Date()];
  const signature = new Webhook(secret).sign(id, now, text);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': signature,
  };
}

/** One delivery of each provider, signed by its published rule. */
const SENT: Record<string, Sent> = {
  github: {
    event: 'pull_request.opened',
    body: { action: 'opened', number: 1 },
    headers: (secret, body) => github(secret, { event: 'pull_request', body }).headers,
  },
  gitlab: {
    event: 'merge_request.open',
    body: { object_kind: 'merge_request', object_attributes: { action: 'open' } },
    headers: standard,
  },
  jira: {
    event: 'issue.created',
    body: { webhookEvent: 'jira:issue_created', issue: { key: 'MILL-7' } },
    headers: (secret, text) => ({ 'X-Hub-Signature': `sha256=${hmac(secret, text)}` }),
  },
  linear: {
    event: 'issue.create',
    body: { type: 'Issue', action: 'create', webhookTimestamp: Date.now() },
    headers: (secret, text) => ({ 'Linear-Signature': hmac(secret, text), 'Linear-Delivery': randomUUID() }),
  },
  pagerduty: {
    event: 'incident.triggered',
    body: { event: { id: randomUUID(), event_type: 'incident.triggered' } },
    headers: (secret, text) => ({ 'X-PagerDuty-Signature': `v1=${'0'.repeat(64)},v1=${hmac(secret, text)}` }),
  },
  sentry: {
    event: 'issue.created',
    body: { action: 'created', data: { issue: { id: '1' } } },
    headers: (secret, text) => ({
      'Sentry-Hook-Signature': hmac(secret, text),
      'Sentry-Hook-Resource': 'issue',
      'Request-ID': randomUUID(),
    }),
  },
  slack: {
    event: 'app_mention',
    body: { type: 'event_callback', event_id: 'Ev01', event: { type: 'app_mention' } },
    headers: (secret, text) => {
      const at = seconds();
      return { 'X-Slack-Request-Timestamp': at, 'X-Slack-Signature': `v0=${hmac(secret, `v0:${at}:${text}`)}` };
    },
  },
  webhook: { event: 'received', body: { what: 'ever' }, headers: standard },
};

describe('What each provider delivers (reference §13)', () => {
  const service = useService();

  const connected = async (slug: string) => {
    const owner = await makeMember(service);
    const connection = await connect(service, owner, { slug });
    return { owner, connection };
  };
  const signed = (slug: string, secret: string, body: object): Delivery => {
    const text = JSON.stringify(body);
    return { headers: SENT[slug]?.headers(secret, text) ?? {}, raw: Buffer.from(text) };
  };

  it.each(Object.keys(SENT))('%s: its event is known and taken once, and nothing else is', async (slug) => {
    const { event = '', body = {} } = SENT[slug] ?? {};
    const { owner, connection } = await connected(slug);
    const { path, secret } = connection;
    await automationOn(service, owner, connection.id, { triggerEvent: `${slug}.${event}` });
    const { body: shown } = await owner.client.get<{ integration: { triggerEvents: { name: string }[] } }>(
      `/v1/integrations/${slug}`,
    );
    expect(shown.integration.triggerEvents.map(({ name }) => name)).toContain(`${slug}.${event}`);
    const delivery = signed(slug, secret, body);
    const answers = await Promise.all(Array.from({ length: 5 }, () => deliver(service, path, delivery)));
    expect(answers.map(({ text }) => text).sort()).toEqual([
      '{"accepted":true}',
      ...new Array<string>(4).fill('{"duplicate":true}'),
    ]);
    const accepted = (await entries(service, connection)).filter(({ verdict }) => verdict === 'accepted');
    expect(accepted).toMatchObject([{ event: `${slug}.${event}`, payload: delivery.raw }]);
    const { secret: stranger } = (await connected(slug)).connection;
    for (const [what, wrong] of Object.entries({
      truncated: { ...delivery, raw: delivery.raw.subarray(0, -1) },
      'another body': { ...delivery, raw: Buffer.from('{}') },
      'signed by another': signed(slug, stranger, body),
      unsigned: { raw: delivery.raw },
    })) {
      expect([what, (await deliver(service, path, wrong)).status]).toEqual([what, 401]);
    }
  });

  it('the handshake of Slack is answered with its challenge, when it is signed', async () => {
    const { connection } = await connected('slack');
    const handshake = { type: 'url_verification', challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P' };
    const answer = await deliver(service, connection.path, signed('slack', connection.secret, handshake));
    expect([answer.status, answer.body]).toEqual([200, { challenge: handshake.challenge }]);
    const wrong = await deliver(service, connection.path, signed('slack', 'of somebody else', handshake));
    expect(wrong.status).toBe(401);
  });

  it('a handshake of Slack without a challenge is 400', async () => {
    const { connection } = await connected('slack');
    for (const challenge of [undefined, 1]) {
      const broken = signed('slack', connection.secret, { type: 'url_verification', challenge });
      const answer = await deliver<ErrorBody>(service, connection.path, broken);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_body']);
      expect(answer.body.error.message).toContain('challenge');
    }
  });

  it.each([
    ['github', 'Content type'],
    ['slack', 'Event Subscriptions'],
    ['sentry', 'application/json'],
  ])('a form of %s is called that, and the answer names the setting', async (slug, setting) => {
    const { connection } = await connected(slug);
    const raw = Buffer.from('payload=%7B%22zen%22%3A%22x%22%7D');
    const headers = {
      ...SENT[slug]?.headers(connection.secret, raw.toString()),
      'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8',
    };
    const answer = await deliver<ErrorBody>(service, connection.path, { raw, headers });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_body']);
    expect(answer.body.error.message).toContain('as a form (application/x-www-form-urlencoded)');
    expect(answer.body.error.message).toContain(setting);
    expect(answer.body.error.message.toLowerCase()).toContain(slug);
  });

  it('a token of GitLab is taken in place of a signature, where it is the secret', async () => {
    const owner = await makeMember(service);
    const { path } = await connect(service, owner, { slug: 'gitlab', secret: 'a-token-of-ours' });
    const raw = Buffer.from('{"object_kind":"push"}');
    const sent = async (token: string) =>
      (await deliver(service, path, { raw, headers: { 'X-Gitlab-Token': token } })).status;
    expect([await sent('a-token-of-others'), await sent('a-token-of-ours')]).toEqual([401, 200]);
  });
});
