import { randomBytes, randomUUID } from 'node:crypto';
import { Controller, Get, Module } from '@nestjs/common';
import { z } from 'zod';
import { Refusals } from '../../src/access/audit/refusals.js';
import { newKey } from '../../src/access/auth/api-key.js';
import { Endpoint } from '../../src/platform/http/endpoint.js';
import { bootApp, useService } from '../harness/app.js';
import { Browser, codeFor, loggedIn, storedOf, WHO, works } from '../harness/browser.js';
import { makeMember, type Member } from '../harness/client.js';

/** What a browser says of a page of another site, of another port or name of this site, of an address that somebody typed, and an old one. */
const ELSEWHERE = ['cross-site', 'same-site', 'none', ''];
const HTTPS = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'mill.example' };

/** A route with a credential beside /v1, as /mcp will be one. */
@Controller('mcp')
class BesideController {
  @Get()
  @Endpoint({ summary: 'Be beside', policy: 'metadata_read', scopes: 'any', answer: z.object({}) })
  read(): object {
    return {};
  }
}

@Module({ controllers: [BesideController] })
class BesideModule {}

describe('A session of the console (reference §20)', () => {
  const service = useService(() => bootApp({ env: { TRUST_PROXY: '1' }, imports: [BesideModule] }));
  let member: Member;

  beforeAll(async () => {
    member = await makeMember(service, { role: 'owner' });
  });

  const browse = () => new Browser(service.url);
  const auditOf = (requestId: string | null) =>
    service.db.query(
      `SELECT action, outcome, code, key_id, actor_id, workspace_id, target_type, target_id FROM audit_log WHERE request_id = $1`,
      [requestId],
    );

  describe('begins with a key', () => {
    it('204 with a cookie that no script reads, no other site sends, and that ends after 12 hours', async () => {
      const browser = browse();
      const { status, headers, text } = await browser.logIn({ key: member.key.secret });
      expect([status, text, headers.get('cache-control')]).toEqual([204, '', 'no-store']);
      expect(browser.setCookie).toMatch(
        /^millwright_[0-9a-f]{16}=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
      );
    });

    it('and stands for that key below /v1: who it is, with its scopes, workspace and user', async () => {
      const { status, body } = await (await loggedIn(service, member)).get(WHO);
      expect([status, body]).toEqual([200, (await member.client.get(WHO)).body]);
      expect(body).toMatchObject({ user: { id: member.user.id }, credential: { id: member.key.id } });
    });

    it('neither the key nor the id of the cookie is stored, and each log-in has an id of its own', async () => {
      const [one, other] = [await loggedIn(service, member), await loggedIn(service, member)];
      const ids = [one, other].map(({ cookie }) => cookie?.split('=')[1] ?? '');
      expect(new Set(ids).size).toBe(2);
      const rows = await service.db.query<{ text: string }>(
        `SELECT to_jsonb(s)::text || encode(hash, 'base64') AS text FROM console_sessions s`,
      );
      const stored = rows.map(({ text }) => text).join('\n');
      for (const id of [...ids, member.key.secret]) {
        expect(stored).not.toContain(id);
        expect(stored).not.toContain(Buffer.from(id, 'base64url').toString('hex'));
      }
    });

    it('over https the cookie goes over https alone, and to this very host', async () => {
      const browser = browse();
      expect((await browser.logIn({ key: member.key.secret }, HTTPS)).status).toBe(204);
      expect(browser.setCookie).toMatch(/^__Host-millwright_[0-9a-f]{16}=.*; Path=\/; .*; SameSite=Strict; Secure$/);
      expect((await browser.get(WHO, HTTPS)).status).toBe(200);
      // One that a neighbour below the same domain could set.
      browser.cookie = (browser.cookie ?? '').replace('__Host-', '');
      expect((await browser.get(WHO, HTTPS)).body.error?.code).toBe('missing_credential');
    });

    it('over http it does not begin on an address that is not of this machine: the answer asks for https', async () => {
      for (const host of ['mill.example', '10.0.0.7:3000', '127.0.0.1.mill.example', '[fd00::1]:3000']) {
        const browser = browse();
        const answer = await browser.logIn({ key: member.key.secret }, { 'X-Forwarded-Host': host });
        expect([host, answer.status, answer.body.error?.code]).toEqual([host, 403, 'origin_not_allowed']);
        expect(answer.body.error?.message).toContain('https');
        expect(browser.setCookie).toBeNull();
      }
      for (const host of ['localhost:3000', '127.0.0.2', '[::1]:3000']) {
        expect((await browse().logIn({ key: member.key.secret }, { 'X-Forwarded-Host': host })).status).toBe(204);
      }
    });

    it('nor where the page came by another way than the service knows of', async () => {
      for (const [origin, headers] of [
        ['https://mill.example', {}],
        ['http://mill.example', HTTPS],
        ['http://10.0.0.7:3000', {}],
      ] as const) {
        const browser = browse();
        const answer = await browser.logIn({ key: member.key.secret }, { ...headers, Origin: origin });
        expect([origin, answer.status, answer.body.error?.code]).toEqual([origin, 403, 'origin_not_allowed']);
        expect(browser.setCookie).toBeNull();
      }
      const known = await browse().logIn({ key: member.key.secret }, { ...HTTPS, Origin: 'https://mill.example' });
      expect(known.status).toBe(204);
    });

    it('one more log-in of a browser ends the session that it had', async () => {
      const browser = await loggedIn(service, member);
      const before = browser.copy();
      expect((await browser.logIn({ key: member.key.secret })).status).toBe(204);
      expect([await works(browser), await works(before)]).toEqual([true, false]);
    });

    it('a key has fifty sessions: one more ends the oldest', async () => {
      const other = await makeMember(service);
      const first = await loggedIn(service, other);
      await service.db.query(
        `INSERT INTO console_sessions SELECT decode(md5(n::text), 'hex'), $1, now() + interval '1 day' FROM generate_series(1, 49) n`,
        [other.key.id],
      );
      expect(await works(first)).toBe(true);
      const last = await loggedIn(service, other);
      expect([await works(first), await works(last), await storedOf(service, other)]).toEqual([false, true, [50, 0]]);
    });

    it.each([
      ['a form', 415, 'unsupported_media_type', 'key=x', { 'Content-Type': 'application/x-www-form-urlencoded' }],
      ['text, which another page may send without asking', 415, 'unsupported_media_type', '{"key":"x"}', { 'Content-Type': 'text/plain' }],
      ['no type at all', 415, 'unsupported_media_type', '', {}],
      ['no JSON', 400, 'invalid_body', '{', { 'Content-Type': 'application/json' }],
      ['neither key nor code', 400, 'invalid_field', '{}', { 'Content-Type': 'application/json' }],
      ['a key that is no text', 400, 'invalid_field', '{"key":1}', { 'Content-Type': 'application/json' }],
      ['both', 400, 'invalid_field', '{"key":"x","code":"x"}', { 'Content-Type': 'application/json' }],
      ['another field', 400, 'unknown_field', '{"key":"x","remember":true}', { 'Content-Type': 'application/json' }],
      ['a long body', 413, 'too_large', `{"key":"${'x'.repeat(5000)}"}`, { 'Content-Type': 'application/json' }],
    ])('not with %s: %i %s', async (_what, status, code, body, type: Record<string, string>) => {
      const headers = { 'Sec-Fetch-Site': 'same-origin', ...type };
      const answer = await fetch(`${service.url}/console/session`, { method: 'POST', headers, body: Buffer.from(body) });
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([status, null]);
      expect(await answer.json()).toMatchObject({ error: { code, requestId: answer.headers.get('x-request-id') } });
    }); // prettier-ignore

    it('not with a key that is mistyped, unknown or has ended: 401', async () => {
      const other = await makeMember(service);
      await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [other.key.id]);
      for (const key of ['mw_pk_x', newKey(), other.key.secret]) {
        const browser = browse();
        const answer = await browser.logIn({ key });
        expect([answer.status, answer.body.error?.code, browser.cookie]).toEqual([401, 'invalid_credential', null]);
      }
    });
  });

  describe('is for the console alone', () => {
    it.each(ELSEWHERE)('nobody logs in or out where the browser says %j: 403 cross_site', async (site) => {
      const browser = browse();
      const there = { 'Sec-Fetch-Site': site };
      const forced = await browser.logIn({ key: member.key.secret }, there);
      expect([forced.status, forced.body.error?.code, browser.setCookie]).toEqual([403, 'cross_site', null]);
      const code = await codeFor(service, member);
      expect((await browser.logIn({ code }, there)).body.error?.code).toBe('cross_site');
      const own = await loggedIn(service, member);
      const out = await own.send('DELETE', '/console/session', { headers: there });
      expect([out.status, out.body.error?.code, await works(own)]).toEqual([403, 'cross_site', true]);
      expect((await browser.logIn({ code })).status).toBe(204);
    });

    it.each(ELSEWHERE)('its cookie counts for nothing where the browser says %j', async (site) => {
      const browser = await loggedIn(service, member);
      for (const [method, path] of [['GET', WHO], ['POST', '/v1/tasks'], ['GET', '/v1/events']] as const) {
        const answer = await browser.send(method, path, { headers: { 'Sec-Fetch-Site': site } });
        expect([answer.status, answer.body.error?.code]).toEqual([401, 'missing_credential']);
      }
      expect(await works(browser)).toBe(true);
    }); // prettier-ignore

    it('nor beside /v1', async () => {
      const browser = await loggedIn(service, member);
      expect((await member.client.get('/mcp')).status).toBe(200);
      expect((await browser.get('/mcp')).body.error?.code).toBe('missing_credential');
    });

    it('a credential in the header wins, also one that is none', async () => {
      const browser = await loggedIn(service, member);
      const other = await makeMember(service);
      const as = (Authorization: string) => browser.get(WHO, { Authorization });
      expect((await as(`Bearer ${other.key.secret}`)).body).toMatchObject({ user: { id: other.user.id } });
      expect((await as('Basic eDp5')).body.error?.code).toBe('invalid_credential');
      expect((await as(`Bearer ${newKey()}`)).body.error?.code).toBe('invalid_credential');
    });

    it('a cookie that no log-in has set is 401, also one that stands there twice', async () => {
      const browser = await loggedIn(service, member);
      const [name = '', id = ''] = (browser.cookie ?? '').split('=');
      const code = await codeFor(service, member);
      for (const value of ['', 'x', randomBytes(32).toString('base64url'), `${id}x`, code, member.key.secret]) {
        const answer = await browser.get(WHO, { Cookie: `${name}=${value}` });
        expect([value, answer.status, answer.body.error?.code]).toEqual([value, 401, 'invalid_credential']);
      }
      expect((await browser.get(WHO, { Cookie: `${name}=x; ${name}=${id}` })).status).toBe(401);
      expect((await browser.get(WHO, { Cookie: `theme=dark; ${name}=${id}; other=1` })).status).toBe(200);
      expect((await browser.get(WHO, { Cookie: `x${name}=${id}` })).body.error?.code).toBe('missing_credential');
    });

    it('its path takes POST and DELETE alone', async () => {
      for (const method of ['GET', 'PUT', 'OPTIONS', 'HEAD']) {
        const { status, headers } = await browse().send(method, '/console/session');
        expect([method, status, headers.get('allow')]).toEqual([method, 405, 'DELETE, POST']);
      }
    });
  });

  describe('is its key', () => {
    it('scopes: those of the key, at each request anew', async () => {
      const other = await makeMember(service, { scopes: ['tasks:read', 'tasks:write'] });
      const browser = await loggedIn(service, other);
      const create = () =>
        browser.send('POST', '/v1/tasks', { json: { content: 'x' }, headers: { 'Idempotency-Key': randomUUID() } });
      expect((await browser.get('/v1/projects')).body.error?.code).toBe('missing_scope');
      expect((await create()).status).toBe(201);
      await service.db.query(`UPDATE api_keys SET scopes = '{tasks:read}' WHERE id = $1`, [other.key.id]);
      expect((await create()).body.error?.code).toBe('missing_scope');
      expect((await browser.get('/v1/tasks')).status).toBe(200);
    });

    it('an Idempotency-Key is one for both, and the audit log names the key', async () => {
      const other = await makeMember(service);
      const browser = await loggedIn(service, other);
      const headers = { 'Idempotency-Key': randomUUID() };
      const json = { content: 'x' };
      const first = await browser.send('POST', '/v1/tasks', { json, headers });
      const again = await other.client.post('/v1/tasks', json, { headers });
      expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
      expect(await auditOf(first.headers.get('x-request-id'))).toMatchObject([
        { action: 'task.create', key_id: other.key.id, actor_id: other.user.id },
      ]);
    });

    it('log-in, log-out and the making of a code are on record, and a log-in that was refused', async () => {
      const other = await makeMember(service);
      const about = { key_id: other.key.id, actor_id: other.user.id, workspace_id: other.workspace.id };
      const target = { target_type: 'key', target_id: other.key.id };
      const browser = browse();
      const requestId = ({ headers }: { headers: Headers }) => headers.get('x-request-id');
      const byKey = await browser.logIn({ key: other.key.secret });
      const byCode = await browser.logIn({ code: await codeFor(service, other) });
      for (const one of [byKey, byCode]) {
        expect(await auditOf(requestId(one))).toEqual([
          { action: 'console.login', outcome: 'done', code: null, ...about, ...target },
        ]);
      }
      expect(await auditOf(requestId(await browser.logOut()))).toMatchObject([{ action: 'console.logout', ...about }]);
      expect(await auditOf(requestId(await browser.logOut()))).toEqual([]);
      const links = `SELECT actor_id FROM audit_log WHERE action = 'console.link' AND target_id = $1`;
      expect(await service.db.query(links, [other.key.id])).toEqual([{ actor_id: null }]);
      await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [other.key.id]);
      const refused = await browser.logIn({ key: other.key.secret });
      await service.app.get(Refusals).write();
      expect(await auditOf(requestId(refused))).toMatchObject([
        { action: 'console.login', outcome: 'refused', code: 'invalid_credential', ...about },
      ]);
    });
  });
});
