import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Streams } from '../../src/resources/events/streams.js';
import { bootApp, useService } from '../harness/app.js';
import { loggedIn } from '../harness/browser.js';
import { makeMember } from '../harness/client.js';
import { ADA, MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { Operator } from '../harness/operator.js';
import { makeWorkspace, Traveller } from '../harness/sign-in.js';
import { until } from '../harness/until.js';

interface Begun {
  deviceCode: string;
  userCode: string;
  verificationUrl: string;
  expiresIn: number;
  interval: number;
}
interface Answer {
  key?: string;
  error?: { code: string };
}

let provider: MockProvider;
beforeAll(async () => {
  provider = await MockProvider.listen();
});
afterAll(() => provider.close());

describe('Device sign-in (reference §31)', () => {
  const service = useService(() => bootApp({ env: SECRET_ENV, config: { signIn: signInBy(provider) } }));
  let operator: Operator;
  let count = 0;
  beforeAll(async () => {
    await makeWorkspace(service, 'acme');
    operator = new Operator(service);
  });
  afterEach(() => service.db.query('DELETE FROM device_codes'));

  async function person(): Promise<Traveller> {
    count += 1;
    provider.claims = { ...ADA, sub: `d-${count}`, email: `d-${count}@acme.example` };
    const traveller = new Traveller(service);
    expect((await traveller.signIn()).headers.get('location')).toBe('/console/');
    return traveller;
  }
  /** As a command does: without a cookie, and without what browsers say. */
  const post = async (path: string, json: object = {}): Promise<{ status: number; body: unknown }> => {
    const body = JSON.stringify(json);
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });
    return { status: answer.status, body: await answer.json() };
  };
  const begin = async () => (await post('/console/device')).body as Begun;
  /** Asks as if the interval had passed. */
  const ask = async ({ deviceCode }: Begun) => {
    await service.db.query(`UPDATE device_codes SET asked_at = asked_at - interval '1 hour'`);
    return (await post('/console/device/token', { deviceCode })).body as Answer;
  };
  const type = (traveller: Traveller, json: object) => traveller.go('/console/device/code', { method: 'POST', json });

  it('gives codes for ten minutes, and the address of the page', async () => {
    const { status, body } = await post('/console/device');
    expect([status, body]).toEqual([
      200,
      {
        deviceCode: expect.stringMatching(/^[\w-]{43}$/) as string,
        userCode: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/) as string,
        verificationUrl: `${service.url}/console/device`,
        expiresIn: 600,
        interval: 5,
      },
    ]);
  });

  it('shows a person scopes, end, address and time, and gives the command its key, once', async () => {
    const [begun, traveller] = [await begin(), await person()];
    expect((await ask(begun)).error?.code).toBe('authorization_pending');
    const seen = await type(traveller, { userCode: begun.userCode.toLowerCase().replace('-', ' ') });
    const { scopes, credential } = (await traveller.who()).body;
    const shown = {
      address: '127.0.0.1',
      createdAt: expect.any(String) as string,
      expiresAt: expect.any(String) as string,
    };
    expect(await seen.json()).toEqual({ ...shown, scopes, keyExpiresAt: credential.expiresAt });
    expect((await type(traveller, { userCode: begun.userCode, approved: true })).status).toBe(204);
    const { key } = await ask(begun);
    const who = await fetch(`${service.url}/v1/auth/context`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await who.json()).toMatchObject({
      credential: { name: 'millwright login', expiresAt: credential.expiresAt },
    });
    expect((await ask(begun)).error?.code).toBe('expired_token');
    expect((await type(traveller, { userCode: begun.userCode, approved: true })).status).toBe(404);
  });

  it('gives the key to one of many who ask for it at the same moment', async () => {
    const [begun, traveller] = [await begin(), await person()];
    await type(traveller, { userCode: begun.userCode, approved: true });
    const all = await Promise.all(
      Array.from({ length: 8 }, () => post('/console/device/token', { deviceCode: begun.deviceCode })),
    );
    expect(all.filter(({ body }) => (body as Answer).key !== undefined)).toHaveLength(1);
  });

  it('answers slow_down to who asks too often, and lets it wait longer from then on', async () => {
    const begun = await begin();
    const codes: (string | undefined)[] = [];
    for (let n = 0; n < 2; n += 1)
      codes.push(((await post('/console/device/token', begun)).body as Answer).error?.code);
    expect(codes).toEqual(['authorization_pending', 'slow_down']);
    expect(await service.db.query('SELECT interval_seconds AS s FROM device_codes')).toEqual([{ s: 10 }]);
  });

  it('answers access_denied when the person says no', async () => {
    const [begun, traveller] = [await begin(), await person()];
    expect((await type(traveller, { userCode: begun.userCode, approved: false })).status).toBe(204);
    expect((await ask(begun)).error?.code).toBe('access_denied');
    expect((await type(traveller, { userCode: begun.userCode, approved: true })).status).toBe(404);
  });

  it('answers expired_token after ten minutes, also when it was approved before, and for a code that is none', async () => {
    const [begun, traveller] = [await begin(), await person()];
    await type(traveller, { userCode: begun.userCode, approved: true });
    await service.db.query(`UPDATE device_codes SET expires_at = now()`);
    expect((await ask(begun)).error?.code).toBe('expired_token');
    for (const deviceCode of ['x', 'x'.repeat(43), null, 17])
      expect(((await post('/console/device/token', { deviceCode })).body as Answer).error?.code).toBe('expired_token');
  });

  it('has codes in the database only as hashes', async () => {
    const { deviceCode, userCode } = await begin();
    const [row] = await service.db.query<object>('SELECT * FROM device_codes');
    const text = JSON.stringify(row);
    for (const code of [deviceCode, userCode, userCode.replace('-', '')]) {
      expect(text).not.toContain(code);
      expect(text).not.toContain(Buffer.from(code).toString('hex'));
    }
  });

  it('lets a session type five wrong codes a minute, and no other session suffers', async () => {
    const [begun, traveller, other] = [await begin(), await person(), await person()];
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await type(traveller, { userCode: 'BBBB-BBBB' })).status);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429]);
    expect((await type(traveller, { userCode: begun.userCode, approved: true })).status).toBe(429);
    expect((await type(other, { userCode: begun.userCode })).status).toBe(200);
    await service.db.query(`UPDATE console_sessions SET wrong_since = wrong_since - interval '61 seconds'`);
    expect((await type(traveller, { userCode: begun.userCode })).status).toBe(200);
  });

  it('is approved by the page alone: not from another site, not with a key, not by a service account', async () => {
    const [begun, traveller] = [await begin(), await person()];
    const json = { userCode: begun.userCode, approved: true };
    for (const site of ['cross-site', 'same-site', 'none']) {
      const answer = await traveller.go('/console/device/code', {
        method: 'POST',
        json,
        headers: { 'Sec-Fetch-Site': site },
      });
      expect([site, answer.status]).toEqual([site, 403]);
    }
    expect((await type(new Traveller(service), json)).status).toBe(401);
    const { key } = await makeMember(service);
    const headers = { Authorization: `Bearer ${key.secret}` };
    expect((await new Traveller(service).go('/console/device/code', { method: 'POST', json, headers })).status).toBe(
      401,
    );
    expect((await ask(begun)).error?.code).toBe('authorization_pending');
  });

  it('gives no more than the session that approves has: one of a key with one scope gives that scope', async () => {
    const [begun, member] = [await begin(), await makeMember(service, { scopes: ['tasks:read'] })];
    const browser = await loggedIn(service, member);
    const answer = await browser.send('POST', '/console/device/code', {
      json: { userCode: begun.userCode, approved: true },
    });
    expect(answer.status).toBe(204);
    const { key } = await ask(begun);
    const who = await fetch(`${service.url}/v1/auth/context`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await who.json()).toMatchObject({ scopes: ['tasks:read'] });
  });

  it('lets twenty commands of one address wait', async () => {
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await post('/console/device')).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await post('/console/device')).status).toBe(429);
  });

  it('ends with the person: cookie, keys, codes and streams of who is removed are dead when the command has ended', async () => {
    // What looks each second is held back: the command tells this process.
    const looks = service.app.get(Streams, { strict: false });
    Object.assign(looks, { looking: true });
    const [waiting, approved, traveller] = [await begin(), await begin(), await person()];
    const { user, workspace } = (await traveller.who()).body;
    const made = await traveller.go('/v1/keys', { method: 'POST', json: { name: 'k', scopes: ['tasks:read'] } });
    const { secret } = (await made.json()) as { secret: string };
    await type(traveller, { userCode: approved.userCode, approved: true });
    const streams = await Promise.all([
      traveller.go('/v1/events', { headers: { Accept: 'text/event-stream' } }),
      fetch(`${service.url}/v1/events`, {
        headers: { Authorization: `Bearer ${secret}`, Accept: 'text/event-stream' },
      }),
    ]);
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    const ends = streams.map(async ({ body }) => {
      const reader = body?.getReader();
      while ((await reader?.read())?.done === false);
    });
    await operator.run('member', 'remove', '--workspace', workspace.slug, '--user', user.email, '--yes');
    expect((await traveller.who()).status).toBe(401);
    expect(
      (await fetch(`${service.url}/v1/auth/context`, { headers: { Authorization: `Bearer ${secret}` } })).status,
    ).toBe(401);
    expect((await ask(approved)).error?.code).toBe('expired_token');
    expect((await type(traveller, { userCode: waiting.userCode, approved: true })).status).toBe(401);
    await Promise.all(ends);
    Object.assign(looks, { looking: false });
  });

  it("lets 'mw login' in, which keeps the key and works with it", async () => {
    const home = mkdtempSync(join(tmpdir(), 'millwright-login-'));
    const words = ['packages/cli/bin.js', 'login', '--device', '--url', service.url];
    const child = spawn(process.execPath, words, { env: { PATH: process.env['PATH'], XDG_CONFIG_HOME: home } });
    let said = '';
    child.stderr.on('data', (chunk) => (said += String(chunk)));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
      const code = await until('the command to show a code', () => /type ([A-Z]{4}-[A-Z]{4})/.exec(said)?.[1], {
        within: 60_000,
      });
      expect((await type(await person(), { userCode: code, approved: true })).status).toBe(204);
      expect(await ended).toBe(0);
      const { apiKey } = JSON.parse(readFileSync(join(home, 'millwright', 'account.json'), 'utf8')) as {
        apiKey: string;
      };
      expect(said).not.toContain(apiKey);
      const who = await fetch(`${service.url}/v1/auth/context`, { headers: { Authorization: `Bearer ${apiKey}` } });
      expect(who.status).toBe(200);
    } finally {
      child.kill();
      rmSync(home, { recursive: true });
    }
  });

  it("'mw login' says in one line that nothing answers at the address", async () => {
    const words = ['packages/cli/bin.js', 'login', '--device', '--url', 'http://127.0.0.1:9'];
    const child = spawn(process.execPath, words, { env: { PATH: process.env['PATH'] } });
    let said = '';
    child.stderr.on('data', (chunk) => (said += String(chunk)));
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect([code === 0, said.trim().split('\n').length]).toEqual([false, 1]);
    expect(said).toContain('http://127.0.0.1:9 does not answer');
  });

  it('is not there without signIn', async () => {
    const without = await bootApp();
    try {
      const answer = await fetch(`${without.url}/console/device`, { method: 'POST' });
      expect(answer.status).toBe(405);
    } finally {
      await without.close();
    }
  });
});
