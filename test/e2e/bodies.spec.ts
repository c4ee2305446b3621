import { request as httpRequest, Agent } from 'node:http';
import { bootApp, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { rawRequest } from '../harness/raw.js';
import { done, makeNotes, NotesModule } from './notes.module.js';

const MIB = 1024 * 1024;

describe('Bodies (reference §1)', () => {
  let member: Member;
  let anonymous: Client;

  const service = useService(() => bootApp({ imports: [NotesModule] }));
  beforeAll(async () => {
    await makeNotes(service.db);
    member = await makeMember(service);
    anonymous = new Client(service.url);
  });

  const send = (raw: string | Uint8Array, headers: Record<string, string> = {}) =>
    member.client.request<ErrorBody>('POST', '/v1/notes/optional', {
      raw,
      headers: { 'Content-Type': 'application/json', ...headers },
    });

  it.each([
    ['broken JSON', '{"text":'],
    ['nothing', ''],
    ['an array', '[]'],
    ['a text', '"text"'],
    ['null', 'null'],
    ['a number', '1'],
    ['NaN', '{"text": NaN}'],
    ['a key __proto__', '{"text":"a","__proto__":{"x":1}}'],
    ['a key __proto__, escaped', '{"text":"a","\\u005f_proto__":{}}'],
    ['a key constructor, deep inside', '{"text":"a","links":[{"constructor":1}]}'],
    ['a key prototype', '{"prototype":1}'],
    ['a NUL', '{"text":"a\\u0000b"}'],
    ['a NUL in a key', '{"a\\u0000":1}'],
    ['a lone high surrogate', '{"text":"\\ud83d"}'],
    ['a lone low surrogate', '{"text":"\\ude00x"}'],
    ['33 levels', '{"a":'.repeat(33) + '1' + '}'.repeat(33)],
    ['33 levels of arrays', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`],
    ['a key given twice', '{"text":"a","text":"b"}'],
    ['a key given twice, once escaped, deep inside', '{"text":"a","links":[{"url":"a","\\u0075rl":"b"}]}'],
    ['10,001 keys and values', `{"links":[${'1,'.repeat(9997)}1]}`],
    ['100,000 levels', '{"a":' + '['.repeat(100_000) + ']'.repeat(100_000) + '}'],
  ])('%s is 400 invalid_body', async (_what, raw) => {
    const { status, body } = await send(raw);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ type: 'invalid_request', code: 'invalid_body' });
  });
  it('invalid UTF-8 is 400 invalid_body', async () => {
    const { body } = await send(Buffer.from('7b2274657874223a22ff227d', 'hex'));
    expect(body.error.code).toBe('invalid_body');
  });
  it('the answer names the key that is given twice', async () => {
    expect((await send('{"text":"a","text":"b"}')).body.error.message).toContain('"text"');
  });
  it('a list is measured before its items are looked at, and of many unknown fields the answer names ten', async () => {
    const { error } = (await send(`{"text":"a","links":[${'{"a":1},'.repeat(9)}1]}`)).body;
    expect(error).toMatchObject({ code: 'invalid_field', param: 'links' });
    expect(error.message).toBe('links must contain no more than 3 elements.');
    const wide = Object.fromEntries(Array.from({ length: 4000 }, (_, n) => [`field${n}${'x'.repeat(200)}`, n]));
    const { message } = (await send(JSON.stringify({ text: 'a', ...wide }))).body.error;
    expect(message).toMatch(/^The fields "field0x+…", .* and 3990 more are not known here\.$/);
    expect(message.length).toBeLessThan(1500);
  });
  it('32 levels, emoji and escapes are accepted as a body', async () => {
    const { body } = await send('{"a":'.repeat(32) + '1' + '}'.repeat(32));
    expect(body.error.code).toBe('unknown_field');
    expect((await send('{"text":"caf\\u00e9 \\ud83d\\ude00 😀"}')).body).toMatchObject({
      note: { text: 'café 😀 😀' },
    });
  });
  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/merge-patch+json', 'application/json; charset=iso-8859-1', ''])(
    'the content type %j is 415',
    async (type) => {
      const { status, body } = await send('{"text":"a"}', { 'Content-Type': type });
      expect(status).toBe(415);
      expect(body.error).toMatchObject({ type: 'invalid_request', code: 'unsupported_media_type' });
    },
  ); // prettier-ignore
  it.each([
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json;charset=utf8',
    'application/json; charset="UTF8"',
  ])('%s is accepted', async (type) => {
    expect((await send('{"text":1}', { 'Content-Type': type })).body.error.code).toBe('invalid_field');
  });
  it('a content encoding is 415', async () => {
    expect((await send('{"text":"a"}', { 'Content-Encoding': 'gzip' })).status).toBe(415);
    expect((await send('{"text":1}', { 'Content-Encoding': 'identity' })).status).toBe(400);
  });
  it('1 MiB is read, one byte more is 413, with and without a length', async () => {
    const body = (size: number) => `{"text":"${'a'.repeat(size - 11)}"}`;
    expect((await send(body(MIB))).body.error.code).toBe('invalid_field');
    expect((await send(body(MIB + 1))).body.error.code).toBe('too_large');
    const stream = new Blob([body(MIB + 1)]).stream() as unknown as Uint8Array;
    expect((await send(stream)).status).toBe(413);
  });
  it('a POST whose fields may all be left out takes no body at all; one that needs a field, and a PATCH, do not', async () => {
    const bare = (method: string, path: string, key?: string) =>
      rawRequest(service.url, [
        `${method} ${path} HTTP/1.1`,
        `Authorization: Bearer ${member.key.secret}`,
        ...(key === undefined ? [] : [`Idempotency-Key: ${key}`]),
      ]);
    const { key } = (
      await member.client.post<{ key: { id: string } }>('/v1/keys', { name: 'K', scopes: ['tasks:read'] })
    ).body;
    expect((await bare('POST', `/v1/keys/${key.id}/rotate`)).status).toBe(201);
    for (const path of ['/v1/tasks', '/v1/keys', '/v1/projects']) {
      const answer = await bare('POST', path, 'bare');
      expect([path, answer.status, answer.body]).toEqual([path, 400, expect.stringContaining('invalid_body')]);
    }
    expect((await bare('PATCH', `/v1/projects/${key.id}`)).status).toBe(400);
  });
  it('a body on an operation that takes none is ignored when it is empty or {}, else 400', async () => {
    const touch = (raw?: string) =>
      member.client.request<ErrorBody>('POST', '/v1/notes/x/touch', raw === undefined ? {} : { raw });
    for (const raw of [undefined, '', '{}', ' { } ']) expect((await touch(raw)).status).toBe(200);
    for (const raw of ['{"a":1}', '[]', 'x']) expect((await touch(raw)).body.error.code).toBe('invalid_body');
    const get = await rawRequest(
      service.url,
      ['GET /v1/auth/context HTTP/1.1', `Authorization: Bearer ${member.key.secret}`, 'Content-Length: 1'],
      'x',
    );
    expect(get.status).toBe(400);
  });
  it('a body that ends early does nothing', async () => {
    const before = done.handled;
    const answer = await rawRequest(
      service.url,
      ['POST /v1/notes/optional HTTP/1.1', `Authorization: Bearer ${member.key.secret}`, 'Content-Type: application/json', 'Content-Length: 20'],
      '{"text":"a',
      true,
    ); // prettier-ignore
    expect(answer.status).toBe(400);
    expect(done.handled).toBe(before);
  });

  describe('refused before it is read', () => {
    // 100 MB in pieces, as fast as the service takes them; resolves with the status and the pieces taken.
    const pour = (path: string, headers: Record<string, string>, agent: Agent) =>
      new Promise<{ status: number; code: string }>((resolve, reject) => {
        const req = httpRequest(service.url + path, { method: 'POST', agent, headers });
        let left = 100;
        const piece = Buffer.alloc(1_000_000, 97);
        const go = () => {
          while (left > 0 && !req.destroyed) {
            left--;
            if (!req.write(piece)) {
              req.once('drain', go);
              return;
            }
          }
          req.end();
        };
        req.on('error', reject).on('response', (res) => {
          const chunks: Buffer[] = [];
          res.on('data', (chunk: Buffer) => chunks.push(chunk));
          res.on('end', () => {
            const { error } = JSON.parse(Buffer.concat(chunks).toString()) as ErrorBody;
            resolve({ status: res.statusCode ?? 0, code: error.code });
          });
        });
        go();
      });

    it.each([true, false])(
      'a client that pours 100 MB gets its answer, not a reset (keep-alive: %s)',
      async (keepAlive) => {
        const agent = new Agent({ keepAlive });
        const authorization = `Bearer ${member.key.secret}`;
        const json = { 'Content-Type': 'application/json' };
        expect(await pour('/v1/notes', json, agent)).toEqual({ status: 401, code: 'missing_credential' });
        expect(await pour('/v1/nothing', json, agent)).toEqual({ status: 404, code: 'not_found' });
        expect(await pour('/v1/notes', { ...json, authorization }, agent)).toEqual({ status: 413, code: 'too_large' });
        const announced = { ...json, authorization, 'Content-Length': '100000000' };
        expect(await pour('/v1/notes', announced, agent)).toEqual({ status: 413, code: 'too_large' });
        agent.destroy();
      },
    );
    it('a client that reads only when it has sent everything is not reset either', async () => {
      const head = ['POST /v1/notes HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 30000000'];
      const answer = await rawRequest(service.url, head, 'a'.repeat(30_000_000));
      expect(answer.status).toBe(401);
    });
    it('a client that asks first is told to go on only when it may', async () => {
      const ask = (headers: Record<string, string>) =>
        new Promise<{ status: number; continued: boolean }>((resolve, reject) => {
          let continued = false;
          const body = '{"text":"asked first"}';
          const req = httpRequest(`${service.url}/v1/notes/optional`, {
            method: 'POST',
            headers: {
              'Content-Type': 'application/json',
              'Content-Length': body.length,
              Expect: '100-continue',
              ...headers,
            },
          });
          req.on('continue', () => {
            continued = true;
            req.end(body);
          });
          req.on('error', reject).on('response', (res) => {
            res.resume().on('end', () => resolve({ status: res.statusCode ?? 0, continued }));
            if (!continued) req.destroy();
          });
          req.flushHeaders();
        });
      const authorization = `Bearer ${member.key.secret}`;
      expect(await ask({ authorization })).toEqual({ status: 201, continued: true });
      expect((await ask({ 'Content-Type': 'text/plain', authorization })).status).toBe(415);
    });
    it('an unknown caller makes the service read nothing', async () => {
      const answer = await rawRequest(service.url, [
        'POST /v1/notes HTTP/1.1',
        'Content-Type: application/json',
        'Expect: 100-continue',
        'Content-Length: 1000',
      ]);
      expect(answer.headers).toContain('401');
      expect(answer.headers).not.toContain('100 Continue');
    });
  });

  it('a stream is left to its handler', async () => {
    const { status, body, headers } = await member.client.request('POST', '/v1/notes/upload', {
      raw: Buffer.alloc(3 * MIB),
      headers: { 'Content-Type': 'application/octet-stream' },
    });
    expect(status).toBe(201);
    expect(body).toEqual({ size: 3 * MIB });
    expect(headers.get('location')).toBe(`/v1/files/${3 * MIB}`);
    expect((await anonymous.request('POST', '/v1/notes/upload', { raw: 'x' })).status).toBe(401);
  });
});
