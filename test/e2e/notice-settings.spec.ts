import { bootApp, useService } from '../harness/app.js';
import { ChoreRunner } from '../../src/platform/chores/chore-runner.js';
import { PersonalNoticesPurge } from '../../src/resources/personal-notices/personal-notices-purge.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { putNotices, readNotices, setNotices, subscribe, unsubscribe } from '../harness/notices.js';
import { PushService, type TestBrowser } from '../harness/push-service.js';
import { HERE } from '../harness/webhooks.js';

const OFF = { needsYou: [], finished: [], failed: [], hookUrl: null, quiet: null, detail: false };
const MAIL = { SMTP_URL: 'smtp://127.0.0.1:1', SMTP_FROM: 'millwright@example.test' };

describe('What a member is told outside of the page (reference §21)', () => {
  let push: PushService;
  let member: Member;
  const service = useService(() => bootApp({ env: { ...HERE, ...MAIL } }));
  beforeAll(async () => {
    push = await PushService.listen();
    member = await makeMember(service, { role: 'viewer' });
  });
  afterAll(() => push.close());

  const count = async (table: string, { user }: Member) => {
    const [row] = await service.db.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table} WHERE user_id = $1`, [
      user.id,
    ]);
    return row?.n;
  };
  const newBrowser = async (of = member): Promise<TestBrowser> =>
    push.browser((await readNotices(of.client)).push.publicKey);

  it('is nothing by default', async () => {
    const { push: keys, email, ...rest } = await readNotices(member.client);
    expect(rest).toEqual(OFF);
    expect(email).toBe(member.user.email);
    expect(keys).toEqual({ publicKey: expect.stringMatching(/^[A-Za-z0-9_-]{87}$/), subscriptions: 0 });
  });

  it('is replaced as a whole, also by a viewer, and is of one workspace and one person', async () => {
    const wanted = {
      needsYou: ['push', 'email', 'hook'],
      finished: ['email'],
      failed: ['hook'],
      hookUrl: 'https://hooks.example/services/T0/secret?x=1',
      quiet: { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
      detail: true,
    };
    expect(await setNotices(member.client, wanted)).toMatchObject(wanted);
    expect(await readNotices(member.client)).toMatchObject(wanted);
    const colleague = await makeMember(service, { workspace: member.workspace });
    expect(await readNotices(colleague.client)).toMatchObject(OFF);
    expect(await setNotices(member.client, {})).toMatchObject(OFF);
  });

  it('is refused with what is wrong, and stays what it was', async () => {
    const before = await setNotices(member.client, { failed: ['hook'], hookUrl: 'https://hooks.example/a' });
    const quiet = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' };
    const wrong: [json: object, param: string][] = [
      [{ needsYou: ['sms'] }, 'needsYou'],
      [{ needsYou: ['push', 'push'] }, 'needsYou'],
      [{ finished: 'push' }, 'finished'],
      [{ failed: ['hook'] }, 'failed'],
      [{ quiet: { ...quiet, from: '24:00' } }, 'quiet.from'],
      [{ quiet: { ...quiet, to: '7:00' } }, 'quiet.to'],
      [{ quiet: { ...quiet, to: '22:00' } }, 'quiet'],
      [{ quiet: { ...quiet, timezone: 'Mars/Olympus' } }, 'quiet.timezone'],
      [{ quiet: { ...quiet, timezone: '+02:00' } }, 'quiet.timezone'],
      [{ quiet: 'night' }, 'quiet'],
      [{ detail: 'yes' }, 'detail'],
      ...[
        ...['hooks.example', 'ftp://hooks.example/', 'https://ann@hooks.example/', 'https://:x@hooks.example/'],
        ...['https://hooks.exa\nmple/', `https://hooks.example/${'x'.repeat(2027)}`, 'https://192.168.1.1/'],
        ...['http://8.8.8.8/', 'https://[::ffff:10.0.0.1]/', 'https://2852039166/'],
      ].map((hookUrl): [object, string] => [{ hookUrl }, 'hookUrl']),
    ];
    for (const [json, param] of wrong) {
      const { status, body } = await putNotices<ErrorBody>(member.client, json);
      expect([json, status, body.error]).toMatchObject([json, 400, { code: 'invalid_field', param }]);
    }
    expect(await readNotices(member.client)).toEqual(before);
  });

  it('is not by e-mail where the service sends none', async () => {
    const silent = await bootApp({ db: service.db });
    const { client } = await makeMember(silent);
    expect((await readNotices(client)).email).toBeNull();
    const { status, body } = await putNotices<ErrorBody>(client, { failed: ['email'] });
    expect([status, body.error.param, body.error.message]).toEqual([
      400,
      'failed',
      expect.stringContaining('SMTP_URL'),
    ]);
    await silent.close();
  });

  it('browsers are added once, found again by their address, and removed', async () => {
    const browser = await newBrowser();
    expect(await subscribe(member.client, browser)).toBe(1);
    expect(await subscribe(member.client, browser)).toBe(1);
    expect((await readNotices(member.client)).push.subscriptions).toBe(1);
    expect((await unsubscribe(member.client, browser)).body.push.subscriptions).toBe(0);
    expect((await unsubscribe(member.client, browser)).status).toBe(404);
  });

  it('at most ten browsers: the one that was added longest ago goes', async () => {
    const browsers: TestBrowser[] = [];
    for (let n = 0; n < 11; n += 1) browsers.push(await newBrowser());
    for (const browser of browsers.slice(0, 10)) await subscribe(member.client, browser);
    // The first one says that it is still there.
    await subscribe(member.client, browsers[0] as TestBrowser);
    expect(await subscribe(member.client, browsers[10] as TestBrowser)).toBe(10);
    expect((await unsubscribe(member.client, browsers[1] as TestBrowser)).status).toBe(404);
    for (const n of [0, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      expect((await unsubscribe(member.client, browsers[n] as TestBrowser)).status).toBe(200);
    // Also when they come at once.
    await Promise.all(browsers.map((browser) => subscribe(member.client, browser)));
    expect(await count('push_subscriptions', member)).toBe(10);
    for (const browser of browsers) await unsubscribe(member.client, browser);
  });

  it('a browser is of the person who has added it last, and of each workspace of that person', async () => {
    const [browser, other] = [await newBrowser(), await makeMember(service)];
    await subscribe(member.client, browser);
    expect(await subscribe(other.client, browser)).toBe(1);
    expect((await readNotices(member.client)).push.subscriptions).toBe(0);
  });

  it('a browser whose address or keys are none is refused', async () => {
    const { subscription } = await newBrowser();
    const { endpoint, keys } = subscription;
    const wrong: [json: object, param: string][] = [
      [{ keys }, 'endpoint'],
      [{ endpoint: 'https://192.168.1.1/x', keys }, 'endpoint'],
      [{ endpoint: 'https://ann@push.example/x', keys }, 'endpoint'],
      [{ endpoint, keys: { ...keys, auth: 'AAAA' } }, 'keys.auth'],
      [{ endpoint, keys: { ...keys, p256dh: 'AAAA' } }, 'keys.p256dh'],
      // No point of the curve.
      [{ endpoint, keys: { ...keys, p256dh: Buffer.alloc(65, 4).toString('base64url') } }, 'keys.p256dh'],
      [{ endpoint, keys: 'x' }, 'keys'],
    ];
    for (const [json, param] of wrong) {
      const { status, body } = await member.client.post<ErrorBody>('/v1/notices/push', json);
      expect([json, status, body.error]).toMatchObject([json, 400, { code: 'invalid_field', param }]);
    }
  });

  it('a test of a channel that leads nowhere is refused with what to do', async () => {
    const { client } = await makeMember(service);
    for (const channel of ['push', 'hook']) {
      const { status, body } = await client.post<ErrorBody>('/v1/notices/test', { channel });
      expect([channel, status, body.error.param]).toEqual([channel, 400, 'channel']);
    }
    const { status, body } = await client.post<{ queued: number }>('/v1/notices/test', { channel: 'email' });
    expect([status, body.queued]).toEqual([202, 1]);
  });

  it('the keys of the sender are the same in every process, and others under another SECRET_KEY', async () => {
    const { push: here } = await readNotices(member.client);
    const [same, another] = [
      await bootApp({ db: service.db }),
      await bootApp({ env: { SECRET_KEY: 'another secret of at least 32 bytes' } }),
    ];
    const strangers = [await makeMember(same), await makeMember(another)];
    const keys = await Promise.all(strangers.map(async ({ client }) => (await readNotices(client)).push.publicKey));
    expect(keys[0]).toBe(here.publicKey);
    expect(keys[1]).not.toBe(here.publicKey);
    await Promise.all([same.close(), another.close()]);
  });

  it('addresses and keys are stored in no readable form, and told by no log of acts', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const browser = await newBrowser(owner);
    await setNotices(owner.client, { failed: ['hook'], hookUrl: 'https://hooks.example/canary-of-a-hook' });
    await subscribe(owner.client, browser);
    const [rows] = await service.db.query<{ text: string }>(
      `SELECT concat((SELECT string_agg(s::text, ' ') FROM notice_settings s), (SELECT string_agg(p::text, ' ') FROM push_subscriptions p),
         (SELECT string_agg(a::text, ' ') FROM audit_log a), (SELECT string_agg(k::text, ' ') FROM idempotency_keys k)) AS text`,
    );
    const audit = (await owner.client.get('/v1/audit')).text;
    expect(audit).toContain('notices.update');
    expect(audit).toContain('notices.subscribe');
    const secrets = [
      'canary-of-a-hook',
      browser.path,
      browser.subscription.keys.auth,
      browser.subscription.keys.p256dh,
    ];
    for (const secret of secrets.flatMap((one) => [one, Buffer.from(one).toString('hex')]))
      for (const text of [rows?.text ?? '', audit]) expect(text).not.toContain(secret);
  });

  it('all of it goes with the membership, and does not come back with it', async () => {
    const guest = await makeMember(service, { workspace: member.workspace });
    await setNotices(guest.client, { failed: ['email'], hookUrl: 'https://hooks.example/' });
    await subscribe(guest.client, await newBrowser(guest));
    await guest.client.post('/v1/notices/test', { channel: 'push' });
    const tables = ['notice_settings', 'push_subscriptions', 'personal_notices'];
    expect(await Promise.all(tables.map((one) => count(one, guest)))).toEqual([1, 1, 1]);
    await service.app.get(MembershipsService).remove(member.workspace.id, guest.user.id);
    expect(await Promise.all(tables.map((one) => count(one, guest)))).toEqual([0, 0, 0]);
  });

  it('notices are forgotten after 30 days', async () => {
    const { client, ...rest } = await makeMember(service);
    await client.post('/v1/notices/test', { channel: 'email' });
    const age = (days: number) =>
      service.db.query(
        `UPDATE personal_notices SET created_at = now() - make_interval(days => $2) WHERE user_id = $1`,
        [rest.user.id, days],
      );
    const purge = () =>
      service.app.get(ChoreRunner).run(service.app.get(PersonalNoticesPurge, { strict: false }), 'purge');
    await age(29);
    await purge();
    expect(await count('personal_notices', { client, ...rest })).toBe(1);
    await age(31);
    await purge();
    expect(await count('personal_notices', { client, ...rest })).toBe(0);
  });
});
