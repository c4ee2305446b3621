import { randomBytes, randomUUID } from 'node:crypto';
import { newKey } from '../../src/access/auth/api-key.js';
import { Streams } from '../../src/resources/events/streams.js';
import { EndedSessions } from '../../src/surfaces/console/ended-sessions.js';
import { bootApp, type TestApp, useService } from '../harness/app.js';
import { Browser, codeFor, loggedIn, storedOf, WHO, works } from '../harness/browser.js';
import { makeMember, type Member } from '../harness/client.js';
import { Operator } from '../harness/operator.js';
import { useStreams } from '../harness/streams.js';
import { createTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('A session of the console (reference §20)', () => {
  const service = useService();
  const open = useStreams();
  let operator: Operator;
  let member: Member;

  beforeAll(async () => {
    operator = new Operator(service);
    member = await makeMember(service, { role: 'owner' });
  });

  const browse = () => new Browser(service.url);

  describe('ends', () => {
    it('with a log-out: the cookie is taken away, and is worth nothing when it is sent again as it was', async () => {
      const [browser, other] = [await loggedIn(service, member), await loggedIn(service, member)];
      const thief = browser.copy();
      const { status, headers } = await browser.logOut();
      expect([status, headers.get('cache-control'), browser.cookie]).toEqual([204, 'no-store', null]);
      expect(browser.setCookie).toMatch(/^millwright_\w+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/);
      const replayed = await thief.get(WHO, { Origin: service.url, Referer: `${service.url}/console/`, 'Sec-Fetch-Mode': 'cors' });
      expect([replayed.status, replayed.body.error?.code]).toEqual([401, 'invalid_credential']);
      expect(await works(other)).toBe(true);
      expect((await browser.logOut()).status).toBe(204);
    }); // prettier-ignore

    it('after its time, whatever the browser still sends', async () => {
      const other = await makeMember(service);
      const browser = await loggedIn(service, other);
      await service.db.query('UPDATE console_sessions SET expires_at = now() WHERE key_id = $1', [other.key.id]);
      const { status, body } = await browser.get(WHO);
      expect([status, body.error?.code]).toEqual([401, 'expired_credential']);
    });

    it.each<[string, (member: Member) => Promise<unknown>]>([
      ['is revoked', ({ key }) => operator.run('key', 'revoke', key.id)],
      ['is deleted', ({ client, key }) => client.delete(`/v1/keys/${key.id}`)],
      ['is rotated', ({ client, key }) => client.post(`/v1/keys/${key.id}/rotate`, {})],
      ['expires', ({ key }) => service.db.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [key.id])],
      [
        'loses its member',
        ({ workspace, user }) => operator.run('member', 'remove', '--workspace', workspace.slug, '--user', user.email, '--yes'),
      ],
      ['loses its workspace', ({ workspace }) => operator.run('workspace', 'delete', '--workspace', workspace.slug, '--yes')],
    ])('when its key %s', async (_how, end) => {
      const other = await makeMember(service);
      const browser = await loggedIn(service, other);
      const code = await codeFor(service, other);
      await end(other);
      expect((await browser.get(WHO)).status).toBe(401);
      expect((await browse().logIn({ code })).status).toBe(401);
    }); // prettier-ignore

    it('of a key that is rotated with an overlap, with the overlap', async () => {
      const other = await makeMember(service);
      const browser = await loggedIn(service, other);
      await other.client.post(`/v1/keys/${other.key.id}/rotate`, { overlapSeconds: 3600 });
      expect(await works(browser)).toBe(true);
      await service.db.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [other.key.id]);
      expect(await works(browser)).toBe(false);
    });

    it('and leaves nothing when its member goes, or its time is over for long', async () => {
      const [gone, late] = [await makeMember(service), await makeMember(service)];
      for (const one of [gone, late]) {
        await loggedIn(service, one);
        await codeFor(service, one);
      }
      await operator.run('member', 'remove', '--workspace', gone.workspace.slug, '--user', gone.user.email, '--yes');
      expect(await storedOf(service, gone)).toEqual([0, 0]);
      for (const table of ['console_sessions', 'console_codes']) {
        await service.db.query(`UPDATE ${table} SET expires_at = now() WHERE key_id = $1`, [late.key.id]);
      }
      await service.app.get(EndedSessions, { strict: false }).forget();
      expect(await storedOf(service, late)).toEqual([0, 0]);
    });

    it('the streams that it has open, and no other: nothing is sent that came later', async () => {
      const { id } = await createTask(member.client, { content: 'Wait.' });
      const [browser, other] = [await loggedIn(service, member), await loggedIn(service, member)];
      const follow = (who: Browser, path: string) =>
        open(service.url + path, null, { Cookie: who.cookie ?? '', 'Sec-Fetch-Site': 'same-origin' });
      const paths = [`/v1/tasks/${id}/events`, '/v1/events', `/v1/tasks/${id}/events?format=ui-message-stream`];
      const own = await Promise.all(paths.map((path) => follow(browser, path)));
      const others = await Promise.all(paths.slice(0, 2).map((path) => follow(other, path)));
      const [task, all, turn] = own;
      for (const one of [task, all, ...others]) await one?.frame('stream.caught_up');
      expect((await browser.logOut()).status).toBe(204);
      const late = await createTask(member.client, { content: 'Too late.' });
      await member.client.patch(`/v1/tasks/${id}`, { title: 'Too late.' });
      for (const one of [task, all]) expect((await one?.end())?.data).toMatchObject({ type: 'stream.end', reason: 'unauthorized' });
      await turn?.end();
      expect(JSON.stringify(own.map(({ frames }) => frames))).not.toMatch(new RegExp(`${late.id}|task\\.updated`));
      await others[0]?.frame('task.updated');
      await others[1]?.frame('task.created');
      expect(others.map(({ ended }) => ended)).toEqual([false, false]);
    }); // prettier-ignore

    it('a request that waits for events too', async () => {
      const browser = await loggedIn(service, member);
      const [{ body }, waiting] = [await browser.get('/v1/events'), browser.copy()];
      const streams = service.app.get(Streams, { strict: false });
      await until('the streams of the test before to be closed', () => streams.size === 0);
      const answer = waiting.get(`/v1/events?wait=30&after=${encodeURIComponent(String(body['position']))}`);
      await until('it to wait', () => streams.size === 1);
      await browser.logOut();
      expect((await answer).status).toBe(401);
    });
  });

  describe('begins with a code', () => {
    it('once', async () => {
      const code = await codeFor(service, member);
      const browser = browse();
      expect(code).toMatch(/^[\w-]{43}$/);
      expect((await browser.logIn({ code })).status).toBe(204);
      expect(await works(browser)).toBe(true);
      const again = await browse().logIn({ code });
      expect([again.status, again.body.error?.code]).toEqual([401, 'invalid_credential']);
    });

    it('of many who send it at once, one is logged in', async () => {
      const code = await codeFor(service, member);
      const answers = await Promise.all(Array.from({ length: 12 }, () => browse().logIn({ code })));
      expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array<number>(11).fill(401)]);
    });

    it('not with one that is guessed, too old, or of a session', async () => {
      const old = await codeFor(service, member);
      await service.db.query(`UPDATE console_codes SET expires_at = now() WHERE key_id = $1`, [member.key.id]);
      const [, id = ''] = ((await loggedIn(service, member)).cookie ?? '').split('=');
      for (const code of [old, id, randomBytes(32).toString('base64url'), '', 'x', member.key.secret]) {
        expect((await browse().logIn({ code })).status).toBe(401);
      }
    });

    it('lasts ten minutes, and is not stored', async () => {
      const other = await makeMember(service);
      const code = await codeFor(service, other);
      const [row] = await service.db.query<{ seconds: number; text: string }>(
        `SELECT extract(epoch FROM expires_at - now())::float8 AS seconds, encode(hash, 'hex') AS text
         FROM console_codes WHERE key_id = $1`,
        [other.key.id],
      );
      expect(row?.seconds).toBeGreaterThan(500);
      expect(row?.seconds).toBeLessThanOrEqual(600);
      expect(row?.text).not.toContain(Buffer.from(code, 'base64url').toString('hex'));
    });

    it('that the operator makes: the address first, or JSON', async () => {
      const words = ['console', 'link', '--key', member.key.id];
      const made = await operator.json<{ url: string; code: string; expiresAt: string }>(...words);
      expect(made.url).toBe(`http://127.0.0.1:3000/console/#code=${made.code}`);
      expect(Object.keys(made)).toEqual(['url', 'code', 'expiresAt']);
      expect((await browse().logIn({ code: made.code })).status).toBe(204);
      const [address = ''] = (await operator.run(...words)).split('\n');
      expect((await browse().logIn({ code: address.split('#code=')[1] ?? '' })).status).toBe(204);
      const at = (env: Record<string, string>) => new Operator(service, env).json<{ url: string }>(...words);
      expect((await at({ PUBLIC_URL: 'https://mill.example' })).url).toMatch(
        /^https:\/\/mill\.example\/console\/#code=/,
      );
      expect((await at({ HOST: '0.0.0.0', PORT: '3001' })).url).toMatch(/^http:\/\/127\.0\.0\.1:3001\//);
      expect((await at({ HOST: '10.0.0.7' })).url).toBeNull();
    });

    it('of no key that has ended or is none', async () => {
      const other = await makeMember(service);
      await operator.run('key', 'revoke', other.key.id);
      for (const id of [other.key.id, randomUUID(), 'x']) {
        await expect(operator.run('console', 'link', '--key', id)).rejects.toThrow(`There is no key '${id}'`);
      }
      const off = new Operator(service, { CONSOLE: 'off' });
      await expect(off.run('console', 'link', '--key', member.key.id)).rejects.toThrow('CONSOLE=off');
    });

    it('of no service that people reach by http from elsewhere, where a log-in is refused', async () => {
      const at = (PUBLIC_URL: string) =>
        new Operator(service, { PUBLIC_URL }).run('console', 'link', '--key', member.key.id);
      await expect(at('http://mill.example')).rejects.toThrow('PUBLIC_URL begins with http');
      expect(await at('http://[::1]:3000')).toMatch(/^http:\/\/\[::1\]:3000\/console\/#code=/);
    });
  });
});

describe('Limits (reference §9, §20)', () => {
  const FAILURES = 4;
  const metadata_read = { capacity: 3, windowSeconds: 86_400 };
  const env = { AUTH_FAILURES_PER_MINUTE: String(FAILURES) };
  const service = useService(() => bootApp({ env, config: { rateLimits: { free: { policies: { metadata_read } }, paid: { policies: { metadata_read } } } } })); // prettier-ignore

  it('those of requests are of the key, whether it or its session sends them; log-ins take nothing of the reads', async () => {
    const member = await makeMember(service);
    const [one, other] = [new Browser(service.url), new Browser(service.url)];
    for (const browser of [one, other, one]) expect((await browser.logIn({ key: member.key.secret })).status).toBe(204);
    const statuses: number[] = [];
    for (const ask of [() => one.get(WHO), () => other.get(WHO), () => member.client.get(WHO), () => one.get(WHO), () => member.client.get(WHO)]) {
      statuses.push((await ask()).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  }); // prettier-ignore

  it('log-ins that fail count as failed authentications of the address: too many are 429; a valid one passes', async () => {
    const member = await makeMember(service);
    const browser = new Browser(service.url);
    const forged = `millwright_x=${randomBytes(32).toString('base64url')}`;
    expect((await browser.logIn({ key: newKey() })).status).toBe(401);
    expect((await browser.logIn({ key: 'nonsense' })).status).toBe(401);
    expect((await browser.logIn({ code: randomBytes(32).toString('base64url') })).status).toBe(401);
    expect((await browser.get(WHO, { Cookie: forged })).status).toBe(401);
    for (const body of [{ key: newKey() }, { code: 'x' }]) {
      const { status, headers } = await browser.logIn(body);
      expect([status, headers.get('ratelimit-policy')]).toEqual([429, `"address";q=${FAILURES};w=60`]);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // Neither of these is a credential that failed.
    expect((await browser.logIn({ key: newKey() }, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
    expect((await browser.logIn({})).status).toBe(400);
    expect((await browser.logIn({ key: member.key.secret })).status).toBe(204);
    expect((await browser.get(WHO)).status).toBe(200);
  });
});

describe('The origin of the console (reference §20)', () => {
  let service: TestApp;
  afterEach(() => service.close());
  const attempt = async (PUBLIC_URL: string) => {
    service = await bootApp({ env: { PUBLIC_URL } });
    const { key } = await makeMember(service);
    const browser = new Browser(service.url);
    return { browser, answer: await browser.logIn({ key: key.secret }) };
  };

  it('is https where PUBLIC_URL says so, whatever stands between', async () => {
    const { browser, answer } = await attempt('https://mill.example');
    expect([answer.status, (await browser.get(WHO)).status]).toEqual([204, 200]);
    expect(browser.setCookie).toMatch(/^__Host-.*; Secure$/);
  });

  it('is not safe where PUBLIC_URL is http and not of this machine', async () => {
    expect((await attempt('http://mill.example')).answer.body.error?.code).toBe('origin_not_allowed');
  });
});
