import { Controller, Get, Module, Post } from '@nestjs/common';
import { z } from 'zod';
import { Page } from '../../src/access/auth/page.decorator.js';
import type { UnitOfWork } from '../../src/platform/database/unit-of-work.js';
import { Endpoint, type EndpointContract } from '../../src/platform/http/endpoint.js';
import { PageQuery, PageRequest } from '../../src/platform/http/pages.js';
import { Tx } from '../../src/platform/http/tx.js';
import { bootApp, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { rawRequest } from '../harness/raw.js';
import { createDatabase } from '../harness/database.js';
import { makeNotes, NotesModule } from './notes.module.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('Routes, request ids and headers (reference §1)', () => {
  let member: Member;
  let anonymous: Client;

  const service = useService(() => bootApp({ imports: [NotesModule] }));
  beforeAll(async () => {
    await makeNotes(service.db);
    member = await makeMember(service);
    anonymous = new Client(service.url);
  });

  it.each(['/', '/v1', '/v1/', '/v2', '/v2/notes', '/v1/notes/', '/V1/notes', '/v1//notes', '//v1/notes', '/v1%2fnotes', '/v1/notes/a/b/c', '/v1/auth/context/', '/*', '/v1/%', '/v1/notes/%/touch', '/v1/notes/%c0%af/touch', '/%00', '/v1/notes/../x'])(
    'there is nothing at %s: 404 for everybody',
    async (path) => {
      for (const credential of [`Authorization: Bearer ${member.key.secret}`, 'Accept: */*']) {
        const answer = await rawRequest(service.url, [`POST ${path} HTTP/1.1`, credential, 'Content-Length: 0']);
        expect(answer.status).toBe(404);
        expect(JSON.parse(answer.body)).toMatchObject({ error: { type: 'not_found', code: 'not_found' } });
      }
    },
  ); // prettier-ignore
  it('a browser at / is sent to the console; a program gets a 404 that names /docs', async () => {
    for (const method of ['GET', 'HEAD']) {
      const headers = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
      const answer = await fetch(`${service.url}/?from=mail`, { method, headers, redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console/']);
      expect(answer.headers.get('x-request-id')).toMatch(UUID);
    }
    for (const Accept of [
      '*/*',
      'application/json',
      'text/html;q=0',
      'application/json, Text/HTML ; q=0.000',
      'text/htmlx',
    ]) {
      const headers = { Accept };
      const { status, body } = await anonymous.get<ErrorBody>('/', { headers });
      expect([status, body.error.code]).toEqual([404, 'not_found']);
      expect(body.error.message).toContain('/docs');
    }
    const post = await fetch(service.url, { method: 'POST', headers: { Accept: 'text/html' }, redirect: 'manual' });
    expect(post.status).toBe(404);
    expect((await anonymous.get<ErrorBody>('/docs/x', { headers: { Accept: 'text/html' } })).status).toBe(404);
  });
  it.each([
    ['PUT', '/v1/notes', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/notes', 'GET, HEAD, POST'],
    ['PATCH', '/v1/notes/abc', 'DELETE'],
    ['GET', '/v1/notes/abc/touch', 'POST'],
    ['TRACE', '/v1/auth/context', 'GET, HEAD'],
    ['OPTIONS', '/open', 'GET, HEAD'],
  ])('%s %s is 405 and names what the path takes: %s', async (method, path, allow) => {
    const answer = await rawRequest(service.url, [`${method} ${path} HTTP/1.1`]);
    expect(answer.status).toBe(405);
    expect(answer.headers).toContain(`Allow: ${allow}\r\n`);
    expect(answer.body).toContain('method_not_allowed');
  });
  it('a letter that is percent-encoded is that letter (RFC 3986 §6.2.2.2)', async () => {
    const read = (path: string) =>
      rawRequest(service.url, [`GET ${path} HTTP/1.1`, `Authorization: Bearer ${member.key.secret}`]);
    for (const path of ['/v1/%74asks', '/%761/tasks', '/v1/task%73?limit=%31']) {
      const answer = await read(path);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.headers).toContain('Cache-Control: no-store\r\n');
    }
    expect((await read('/v1/%54asks')).status).toBe(404);
  });
  it('OPTIONS of an unknown path is 404', async () => {
    expect((await anonymous.request('OPTIONS', '/v1/nothing')).status).toBe(404);
    // That path cannot be decoded: no route takes it.
    expect((await anonymous.request('OPTIONS', '/v1/webhooks/%/recover')).status).toBe(404);
  });
  it('a browser that asks whether it may is told nothing that would let it', async () => {
    const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' };
    const answer = await anonymous.request('OPTIONS', '/v1/tasks', { headers });
    expect(answer.status).toBe(405);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
  it('HEAD is served as GET, without the body', async () => {
    const answer = await member.client.request('HEAD', '/v1/auth/context');
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('');
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(100);
    expect((await anonymous.request('HEAD', '/v1/auth/context')).status).toBe(401);
  });
  it('a public route asks for no credential and does not look at one', async () => {
    expect((await anonymous.get('/open')).status).toBe(200);
    expect((await anonymous.get('/open', { headers: { Authorization: 'Bearer x' } })).status).toBe(200);
  });

  it('every response carries a request id of ours, in errors also in the body', async () => {
    const seen = new Set<string | null>();
    for (const path of ['/v1/auth/context', '/v1/nothing', '/open', '/v1/%']) {
      const answer = await anonymous.get<Partial<ErrorBody>>(path, { headers: { 'X-Request-Id': 'mine' } });
      const id = answer.headers.get('x-request-id');
      expect(id).toMatch(UUID);
      if (answer.body.error !== undefined) expect(answer.body.error.requestId).toBe(id);
      seen.add(id);
    }
    expect(seen.size).toBe(4);
  });
  it('responses under /v1 are not stored, and say nothing about the program', async () => {
    for (const path of ['/v1/auth/context', '/v1/nothing', '/v1/notes?x=1']) {
      const { headers } = await member.client.get(path, { headers: { Origin: 'https://app.example' } });
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('etag')).toBeNull();
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(headers.get('content-type')).toMatch(/^application\/json/);
    }
  });
  it('an error has exactly the documented keys', async () => {
    const { body } = await anonymous.get<ErrorBody>('/v1/auth/context');
    expect(Object.keys(body)).toEqual(['error']);
    expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'requestId', 'retryable', 'type']);
  });

  it('answers under /v1 are not stored, also when the request target is a whole URL', async () => {
    const { status, headers } = await rawRequest(service.url, ['GET http://elsewhere/v1/models HTTP/1.1']);
    expect(status).toBe(401);
    expect(headers).toContain('Cache-Control: no-store');
  });

  describe('at boot', () => {
    const boot = async (controller: new () => object) => {
      @Module({ controllers: [controller] })
      class ForeignModule {}
      const db = await createDatabase();
      try {
        await (await bootApp({ db, imports: [ForeignModule] })).close();
      } finally {
        await db.drop();
      }
    };

    it('a route without @Endpoint stops the boot; the message says where and what to type', async () => {
      @Controller('v1/bare')
      class BareController {
        @Get()
        list() {
          return {};
        }
      }
      await expect(boot(BareController)).rejects.toThrow(/BareController\.list has no @Endpoint.*@Endpoint\(\{/s);
    });
    it('a route with a credential and without a rate-limit policy stops the boot', async () => {
      @Controller('v1/free')
      class UnlimitedController {
        @Get()
        @Endpoint({ summary: 'x', answer: z.object({}), policy: null, scopes: ['tasks:read'] })
        list() {
          return {};
        }
      }
      await expect(boot(UnlimitedController)).rejects.toThrow(/UnlimitedController\.list: .*rate-limit policy/);
    });
    it('a route that the document could say nothing of stops the boot', async () => {
      @Controller('v1/mute')
      class MuteController {
        @Get()
        @Endpoint({ policy: 'resource_read', scopes: ['tasks:read'] } as unknown as EndpointContract)
        list() {
          return {};
        }
      }
      await expect(boot(MuteController)).rejects.toThrow(/MuteController\.list: .*'summary'.*'answer'/);
    });
    it('an Idempotency-Key on a route that only reads stops the boot', async () => {
      @Controller('v1/odd')
      class OddController {
        @Get()
        @Endpoint({
          summary: 'x',
          answer: z.any(),
          policy: 'resource_read',
          scopes: ['tasks:read'],
          idempotency: 'required',
        })
        list() {
          return {};
        }
      }
      await expect(boot(OddController)).rejects.toThrow(/OddController\.list: an Idempotency-Key needs/);
    });
    it('a route that takes the transaction which its contract does not open stops the boot', async () => {
      @Controller('v1/loose')
      class LooseController {
        @Post()
        @Endpoint({ summary: 'x', answer: z.object({}), policy: 'resource_write', scopes: ['tasks:write'] })
        make(@Tx() _tx: UnitOfWork) {
          return {};
        }
      }
      await expect(boot(LooseController)).rejects.toThrow(/LooseController\.make: it takes @Tx.*'transaction: true'/);
    });
    it('a public route that takes the page of a caller stops the boot', async () => {
      @Controller('v1/open')
      class OpenController {
        @Get()
        @Endpoint({ summary: 'x', answer: z.object({}), policy: null, scopes: 'public' })
        list(@Page(PageQuery) _page: PageRequest) {
          return {};
        }
      }
      await expect(boot(OpenController)).rejects.toThrow(/OpenController\.list: it takes @Page.*scopes/);
    });
  });
});
