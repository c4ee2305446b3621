import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Plugin } from '../../src/platform/plugins/plugin.js';
import { ConnectionsService } from '../../src/resources/integrations/connections.service.js';
import { HookLog } from '../../src/resources/integrations/hooks/hook-log.js';
import { IntegrationProvider } from '../../src/resources/integrations/integration-provider.js';
import { bootApp, useService } from '../harness/app.js';
import { type Answer, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { automationOn, connect, deliver, entries, github, jobs, pushBody, verdicts } from '../harness/hooks.js';

/** A provider of an extension that takes its words from the sender as they are. */
@Plugin(IntegrationProvider, 'odd')
class OddProvider extends IntegrationProvider {
  describe() {
    return { slug: 'odd', name: 'Odd', description: 'Odd.', category: 'other', triggerEvents: [], signsId: true };
  }
  verify() {
    return true;
  }
  parseEvent() {
    const event = `pu\u202esh\u0000\n\ud800${'x'.repeat(500)}`;
    return { type: 'event', event, deliveryId: 'a\u0000\u200b b' } as const;
  }
}

@Module({ providers: [OddProvider] })
class OddModule {}

/** What a client may see of an answer, without what differs from request to request. */
function seen({ status, headers, body }: Answer<ErrorBody>) {
  const passing = ['date', 'x-request-id', 'content-length', 'connection', 'keep-alive'];
  const shown = [...headers].filter(([name]) => !passing.includes(name));
  return { status, headers: shown, error: { ...body.error, requestId: '' } };
}

describe('POST /hooks/{connectionId} (reference §13)', () => {
  let member: Member;

  const service = useService(() => bootApp({ imports: [OddModule] }));
  beforeAll(async () => {
    member = await makeMember(service);
  });
  /** Each test has a connection of its own: a workspace has one of each provider. */
  const connected = async () => {
    const owner = await makeMember(service);
    return { owner, ...(await connect(service, owner)) };
  };
  const rotate = (id: string, overlapSeconds: number) =>
    service.app.get(ConnectionsService, { strict: false }).rotate(id, overlapSeconds);

  it('a signed delivery is taken: one entry with its bytes, and one job, whose data is an id', async () => {
    const { owner, id, path, secret } = await connected();
    await automationOn(service, owner, id);
    const delivery = github(secret);
    const { status, text } = await deliver(service, path, delivery);
    expect([status, text]).toEqual([200, '{"accepted":true}']);
    const [entry] = await entries(service, { id });
    expect(entry).toMatchObject({
      verdict: 'accepted',
      event: 'github.push',
      delivery_id: delivery.headers['X-GitHub-Delivery'],
      payload: delivery.raw,
    });
    const rows = await service.db.query(`SELECT data FROM jobs WHERE data->>'deliveryId' = $1`, [entry?.id]);
    expect(rows).toEqual([{ data: { deliveryId: entry?.id } }]);
  });

  it('what no active automation waits for is taken and not kept', async () => {
    const { owner, id, path, secret } = await connected();
    await automationOn(service, owner, id, { status: 'paused' });
    await automationOn(service, owner, id, { triggerEvent: 'github.issues.opened' });
    expect((await deliver(service, path, github(secret))).text).toBe('{"accepted":true}');
    const all = await entries(service, { id });
    expect(all).toMatchObject([{ verdict: 'no_automation', event: 'github.push', payload: null }]);
    expect(await jobs(service, [all[0]?.id ?? ''])).toEqual([]);
  });

  it('the same delivery again is a duplicate, without effect', async () => {
    const { owner, id, path, secret } = await connected();
    await automationOn(service, owner, id);
    const delivery = github(secret);
    await deliver(service, path, delivery);
    for (let i = 0; i < 3; i++) {
      const { status, text } = await deliver(service, path, delivery);
      expect([status, text]).toEqual([200, '{"duplicate":true}']);
    }
    await verdicts(service, { id }, 'accepted', 'duplicate', 'duplicate', 'duplicate');
    const ids = (await entries(service, { id })).map((one) => one.id);
    expect(await jobs(service, ids)).toHaveLength(1);
  });

  it('where the signature covers no id, another id does not make another delivery of a body', async () => {
    const { owner, id, path, secret } = await connected();
    await automationOn(service, owner, id);
    const body = pushBody();
    expect((await deliver(service, path, github(secret, { body }))).text).toBe('{"accepted":true}');
    expect((await deliver(service, path, github(secret, { body }))).text).toBe('{"duplicate":true}');
    const issues = github(secret, { body, event: 'issues' });
    expect((await deliver(service, path, issues)).text).toBe('{"duplicate":true}');
    const same = randomUUID();
    expect((await deliver(service, path, github(secret, { id: same }))).text).toBe('{"accepted":true}');
    expect((await deliver(service, path, github(secret, { id: same }))).text).toBe('{"accepted":true}');
  });

  it('of twenty at the same moment one is taken, with one job', async () => {
    const { owner, id, path, secret } = await connected();
    await automationOn(service, owner, id);
    for (let round = 0; round < 5; round++) {
      const delivery = github(secret);
      const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(service, path, delivery)));
      const texts = answers.map(({ text }) => text).sort();
      expect(texts).toEqual(['{"accepted":true}', ...new Array<string>(19).fill('{"duplicate":true}')]);
    }
    const taken = (await entries(service, { id })).filter(({ verdict }) => verdict === 'accepted');
    expect(taken).toHaveLength(5);
    expect(await jobs(service, taken.map((one) => one.id))).toHaveLength(5); // prettier-ignore
  });

  it('one body at two connections is two deliveries', async () => {
    const [one, other] = [await connected(), await connected()];
    const body = pushBody();
    expect((await deliver(service, one.path, github(one.secret, { body }))).text).toBe('{"accepted":true}');
    expect((await deliver(service, other.path, github(other.secret, { body }))).text).toBe('{"accepted":true}');
  });

  it('an unknown connection, a wrong signature and none, and what was changed on the way are told alike', async () => {
    const { id, path, secret } = await connected();
    const other = await connected();
    const gone = await connected();
    await service.app.get(ConnectionsService, { strict: false }).disconnect(gone.id);
    const good = github(secret);
    const { 'X-Hub-Signature-256': _dropped, ...unsigned } = good.headers;
    const refused: [string, string, Partial<typeof good>][] = [
      ['of another connection', path, github(other.secret)],
      ['without a signature', path, { ...good, headers: unsigned }],
      ['truncated', path, { ...good, raw: good.raw.subarray(0, -1) }],
      ['re-encoded', path, { ...good, raw: Buffer.from(JSON.stringify(JSON.parse(good.raw.toString()), null, 1)) }],
      ['with nothing', path, { headers: good.headers }],
      ['an id that nothing has', `/hooks/${uuidv7()}`, good],
      ['an id that is none', '/hooks/x', good],
      ['disconnected', gone.path, github(gone.secret)],
    ];
    const answers = await Promise.all(
      refused.map(async ([what, at, delivery]) => ({ what, ...seen(await deliver(service, at, delivery)) })),
    );
    const expected = answers[0];
    expect(expected).toMatchObject({ status: 401, error: { code: 'invalid_credential', type: 'unauthorized' } });
    expect(answers).toEqual(refused.map(([what]) => ({ ...expected, what })));
    await verdicts(service, { id }, ...new Array<string>(5).fill('bad_signature'));
    expect(await entries(service, { id })).toContainEqual(
      expect.objectContaining({ event: null, delivery_id: null, payload: null, dedupe_key: null }),
    );
  });

  it('an id in capitals is the id, and a query is ignored', async () => {
    const { path, id, secret } = await connected();
    expect((await deliver(service, `/hooks/${id.toUpperCase()}`, github(secret))).status).toBe(200);
    expect((await deliver(service, `${path}?colour=red&colour=blue`, github(secret))).status).toBe(200);
  });

  it('the content type does not matter', async () => {
    const { path, secret } = await connected();
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense']) {
      const { headers, raw } = github(secret);
      const answer = await deliver(service, path, { raw, headers: { ...headers, 'Content-Type': type } });
      expect([type, answer.text]).toEqual([type, '{"accepted":true}']);
    }
  });

  it('what is signed and no JSON object or list is 400, and noted', async () => {
    const { id, path, secret } = await connected();
    for (const body of ['{"a":', '', '1', 'payload=%7B%7D']) {
      const answer = await deliver<ErrorBody>(service, path, github(secret, { body }));
      expect([body, answer.status, answer.body.error?.code]).toEqual([body, 400, 'invalid_body']);
    }
    await verdicts(service, { id }, ...new Array<string>(4).fill('malformed'));
    expect((await deliver(service, path, github(secret, { body: '[]' }))).status).toBe(200);
  });

  it('a ping is answered as a handshake and starts nothing', async () => {
    const { owner, id, path, secret } = await connected();
    await automationOn(service, owner, id, { triggerEvent: 'github.ping' });
    expect((await deliver(service, path, github(secret, { event: 'ping' }))).status).toBe(200);
    await verdicts(service, { id }, 'handshake');
  });

  it('while a secret is exchanged both are taken, and an older one is not', async () => {
    const { id, path, secret } = await connected();
    const second = await rotate(id, 3600);
    const status = async (signer: string) => (await deliver(service, path, github(signer))).status;
    expect([await status(secret), await status(second.secret)]).toEqual([200, 200]);
    const third = await rotate(id, 3600);
    expect([await status(secret), await status(second.secret), await status(third.secret)]).toEqual([401, 200, 200]);
    await service.db.query('UPDATE connections SET previous_secret_until = now() WHERE id = $1', [id]);
    expect([await status(second.secret), await status(third.secret)]).toEqual([401, 200]);
    const last = await rotate(id, 0);
    expect([await status(third.secret), await status(last.secret)]).toEqual([401, 200]);
  });

  it('what a provider calls an event is shown in one line, with nothing hidden', async () => {
    const owner = await makeMember(service);
    const { id, path } = await connect(service, owner, { slug: 'odd' });
    expect((await deliver(service, path, { raw: Buffer.from('{}') })).text).toBe('{"accepted":true}');
    const [entry] = await entries(service, { id });
    expect(entry?.event).toMatch(/^odd\.push\ufffdx{100,200}$/);
    expect(entry?.delivery_id).toBe('a b');
    const { deliveries } = (await owner.client.get<{ deliveries: object[] }>('/v1/integrations/odd/deliveries')).body;
    expect(deliveries).toMatchObject([{ event: entry?.event, deliveryId: 'a b' }]);
  });

  it('entries without an effect take the place of each other and not of the others', async () => {
    const { id, path, secret } = await connected();
    for (let i = 0; i < 3; i++) await deliver(service, path, github(secret));
    await service.db.query(
      `INSERT INTO hook_deliveries (id, connection_id, verdict)
       SELECT ('01a20000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid, $1, 'duplicate' FROM generate_series(1, 80) i`,
      [id],
    );
    await deliver(service, path, github('wrong, but long enough'));
    await verdicts(service, { id }, ...new Array<string>(3).fill('no_automation'), ...new Array<string>(49).fill('duplicate'), 'bad_signature'); // prettier-ignore
  });

  it('a flood of refused ones does not cost a write for each', async () => {
    const { id, path } = await connected();
    await Promise.all(Array.from({ length: 60 }, () => deliver(service, path, github('wrong, but long enough'))));
    await service.app.get(HookLog, { strict: false }).beforeApplicationShutdown();
    const count = (await entries(service, { id })).length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(30);
  });

  it('after 30 days a delivery is forgotten', async () => {
    const { id, path, secret } = await connected();
    const [old, young] = [github(secret), github(secret)];
    for (const one of [old, young]) await deliver(service, path, one);
    await service.db.query(
      `UPDATE hook_deliveries SET created_at = now() - interval '30 days 1 minute' WHERE connection_id = $1 AND delivery_id = $2`,
      [id, old.headers['X-GitHub-Delivery']],
    );
    expect(await service.app.get(HookLog, { strict: false }).purge()).toBe(1);
    expect((await deliver(service, path, young)).text).toBe('{"duplicate":true}');
    expect((await deliver(service, path, old)).text).toBe('{"accepted":true}');
  });

  it('a secret lies encrypted in the database, and is none in the row of another connection', async () => {
    const [one, other] = [await connected(), await connected()];
    const [row] = await service.db.query<{ secret: Buffer }>('SELECT secret FROM connections WHERE id = $1', [one.id]);
    expect(row?.secret.includes(one.secret)).toBe(false);
    expect(row?.secret.includes(Buffer.from(one.secret.slice('whsec_'.length), 'base64'))).toBe(false);
    await service.db.query('UPDATE connections SET secret = $2 WHERE id = $1', [other.id, row?.secret]);
    expect((await deliver(service, other.path, github(one.secret))).status).toBe(401);
    await verdicts(service, other, 'unreadable_secret');
  });

  it('under another SECRET_KEY no secret can be read: 401, said in the log of the connection', async () => {
    const { id, path, secret } = await connected();
    const other = await bootApp({
      db: service.db,
      env: { SECRET_KEY: 'another secret of the tests, 32 bytes and more' },
    });
    try {
      expect((await deliver(other, path, github(secret))).status).toBe(401);
      await verdicts(service, { id }, 'unreadable_secret');
    } finally {
      await other.close();
    }
    expect((await deliver(service, path, github(secret))).status).toBe(200);
  });

  it('needs no credential, and looks at none', async () => {
    const { path, secret } = await connected();
    const { headers, raw } = github(secret);
    const answer = await member.client.request('POST', path, { raw, headers });
    expect([answer.status, answer.headers.has('x-ratelimit-limit')]).toEqual([200, false]);
    const wrong = await member.client.as('nonsense').request('POST', path, github(secret));
    expect(wrong.status).toBe(200);
  });
});
