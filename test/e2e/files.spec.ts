import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import type { FileRow } from '../../src/resources/files/files.sql.js';
import { LocalStorage } from '../../src/resources/files/storage/local/local-storage.js';
import { bootApp, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { attach, checkedFetch, makeTask, openFiles, upload } from '../harness/files.js';
import { until } from '../harness/until.js';

describe('Files (reference §7)', () => {
  let member: Member;
  let task: string;

  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
    task = await makeTask(service, member);
  });

  async function makeFile(
    bytes: string | Uint8Array<ArrayBuffer>,
    name = 'a.txt',
    type = 'text/plain',
  ): Promise<FileRow> {
    const { id } = await upload(service, member, bytes, { name, type });
    const [file] = await attach(service, member, task, [id]);
    if (file === undefined) throw new Error('nothing was attached');
    return file;
  }

  function content(id: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
    const Authorization = `Bearer ${member.key.secret}`;
    return checkedFetch(service, `/v1/files/${id}/content`, { method, headers: { Authorization, ...headers } });
  }

  describe('GET /v1/files/{fileId}', () => {
    it('describes the file', async () => {
      const file = await makeFile('hello', 'Über "x".html', 'text/html');
      const { status, body } = await member.client.get(`/v1/files/${file.id}`);
      expect(status).toBe(200);
      expect(body).toEqual({
        file: {
          id: file.id,
          name: 'Über "x".html',
          mediaType: 'text/html',
          size: 5,
          sha256: file.sha256,
          origin: 'attachment',
          taskId: task,
          projectId: null,
          createdBy: { id: member.user.id, name: expect.stringMatching(/^User /) as string },
          downloadUrl: `${service.url}/v1/files/${file.id}/content`,
          createdAt: file.createdAt.toISOString(),
        },
      });
    });

    it('is seen by the creator of its task, owners and admins; for anybody else it is not there', async () => {
      const file = await makeFile('secret');
      const { workspace } = member;
      const [owner, admin, colleague, stranger] = await Promise.all([
        makeMember(service, { workspace, role: 'owner' }),
        makeMember(service, { workspace, role: 'admin' }),
        makeMember(service, { workspace }),
        makeMember(service, { role: 'owner' }),
      ]);
      for (const path of [`/v1/files/${file.id}`, `/v1/files/${file.id}/content`]) {
        for (const { client } of [member, owner, admin]) expect((await client.get(path)).status).toBe(200);
        const answers = [await colleague.client.get<ErrorBody>(path), await stranger.client.get<ErrorBody>(path)];
        for (const id of [crypto.randomUUID(), 'no-uuid', '%00', `${file.id}x`]) {
          answers.push(await member.client.get<ErrorBody>(path.replace(file.id, id)));
        }
        const bodies = answers.map(({ status, body }) => ({ status, error: { ...body.error, requestId: '' } }));
        expect(bodies.every(({ status, error }) => status === 404 && error.code === 'not_found')).toBe(true);
        expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
      }
    });

    it('needs files:read', async () => {
      const file = await makeFile('x');
      const writer = await makeMember(service, { workspace: member.workspace, role: 'owner', scopes: ['files:write'] });
      expect((await writer.client.get(`/v1/files/${file.id}`)).status).toBe(403);
      expect((await writer.client.get(`/v1/files/${file.id}/content`)).status).toBe(403);
    });

    it.each([
      ['the public address where there is one', { PUBLIC_URL: 'https://mill.example/' }, 'https://mill.example'],
      ['what a trusted proxy forwards', { TRUST_PROXY: '1' }, 'https://proxy.example'],
    ])('links to %s', async (_what, env, origin) => {
      const { id } = await makeFile('x');
      const other = await bootApp({ db: service.db, env });
      try {
        const headers = { 'X-Forwarded-Host': 'proxy.example', 'X-Forwarded-Proto': 'https' };
        const client = new Client(other.url, member.key.secret);
        const { body } = await client.get(`/v1/files/${id}`, { headers });
        expect(body).toMatchObject({ file: { downloadUrl: `${origin}/v1/files/${id}/content` } });
      } finally {
        await other.close();
      }
    });
  });

  describe('GET /v1/files/{fileId}/content', () => {
    it('gives the bytes, as a download that no browser runs', async () => {
      const bytes = randomBytes(300_000);
      const file = await makeFile(bytes, 'data.json', 'application/vnd.thing+json');
      const answer = await content(file.id);
      expect(answer.status).toBe(200);
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'application/vnd.thing+json',
        'content-length': '300000',
        etag: `"${file.sha256}"`,
        'accept-ranges': 'bytes',
        'content-disposition': `attachment; filename="data.json"; filename*=UTF-8''data.json`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': 'sandbox',
        'cache-control': 'private, no-cache',
      });
    });

    it.each([
      ...['text/html', 'image/svg+xml', 'application/xml', 'text/x-html', 'application/hta', 'text/vbscript'],
      ...['text/javascript', 'message/rfc822', 'application/x-thing'],
    ])('serves %s as bytes of no type, in every answer, while the file keeps its own', async (type) => {
      const file = await makeFile(`<p>${type}`, 'a', type);
      expect(file.mediaType).toBe(type);
      for (const headers of [{}, { Range: 'bytes=0-1' }]) {
        const answer = await content(file.id, headers);
        const served = ['content-type', 'content-disposition', 'x-content-type-options', 'content-security-policy'];
        expect(served.map((name) => answer.headers.get(name))).toEqual([
          'application/octet-stream',
          expect.stringMatching(/^attachment; /),
          'nosniff',
          'sandbox',
        ]);
      }
    });

    it('says any name safely', async () => {
      const file = await makeFile('x');
      const name = `évil"; x=\r\nX-Evil: 1\\ 報告.txt`;
      await service.db.query('UPDATE files SET name = $2 WHERE id = $1', [file.id, name]);
      const { headers } = await content(file.id);
      const disposition = headers.get('content-disposition') ?? '';
      expect(headers.has('x-evil')).toBe(false);
      expect(disposition).toMatch(/^attachment; filename="[^"\\]*"; filename\*=UTF-8''[\w%!.~-]+$/);
      expect(decodeURIComponent(disposition.split("''")[1] ?? '')).toBe(name);
    });

    it.each([
      ['bytes=0-3', '0123', 'bytes 0-3/10'],
      ['bytes=4-4', '4', 'bytes 4-4/10'],
      ['bytes=7-', '789', 'bytes 7-9/10'],
      ['bytes=-3', '789', 'bytes 7-9/10'],
      ['bytes=-99', '0123456789', 'bytes 0-9/10'],
      ['bytes=8-99', '89', 'bytes 8-9/10'],
    ])('answers the range %s with 206', async (Range, part, contentRange) => {
      const { id } = await makeFile('0123456789');
      const answer = await content(id, { Range });
      expect([answer.status, await answer.text()]).toEqual([206, part]);
      expect(answer.headers.get('content-range')).toBe(contentRange);
      expect(answer.headers.get('content-length')).toBe(String(part.length));
    });

    it.each(['bytes=0-1,3-4', 'bytes=5-2', 'bytes=a-b', 'bytes=-', 'lines=0-1', 'bytes=0-1;'])(
      'answers %s with the whole file',
      async (Range) => {
        const { id } = await makeFile('0123456789');
        const answer = await content(id, { Range });
        expect([answer.status, await answer.text()]).toEqual([200, '0123456789']);
        expect(answer.headers.has('content-range')).toBe(false);
      },
    );

    it.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=99999999999999999999-'])(
      'answers %s with 416',
      async (Range) => {
        const { id } = await makeFile('0123456789');
        const answer = await content(id, { Range });
        expect(answer.status).toBe(416);
        expect(answer.headers.get('content-range')).toBe('bytes */10');
        expect(await answer.json()).toMatchObject({
          error: { type: 'invalid_request', code: 'range_not_satisfiable' },
        });
      },
    );

    it('heeds If-Range and If-None-Match', async () => {
      const { id, sha256 } = await makeFile('0123456789');
      const Range = 'bytes=0-3';
      expect((await content(id, { Range, 'If-Range': `"${sha256}"` })).status).toBe(206);
      expect((await content(id, { Range, 'If-Range': '"other"' })).status).toBe(200);
      for (const tags of [`"${sha256}"`, `"other", W/"${sha256}"`, '*']) {
        const answer = await content(id, { 'If-None-Match': tags });
        expect([answer.status, await answer.text()]).toEqual([304, '']);
        expect(answer.headers.get('etag')).toBe(`"${sha256}"`);
      }
      expect((await content(id, { 'If-None-Match': '"other"' })).status).toBe(200);
    });

    it('heeds If-Match and the dates of conditions (RFC 9110 §13.1)', async () => {
      const { id, sha256 } = await makeFile('0123456789');
      const modified = (await content(id)).headers.get('last-modified') ?? '';
      const [before, after] = [-1, 1].map((hours) => new Date(Date.parse(modified) + hours * 3_600_000).toUTCString());
      const cases: [Record<string, string>, number][] = [
        [{ 'If-Match': `"other", "${sha256}"` }, 200],
        [{ 'If-Match': '*' }, 200],
        [{ 'If-Match': '"other"' }, 412],
        [{ 'If-Match': `W/"${sha256}"` }, 412],
        [{ 'If-Unmodified-Since': modified }, 200],
        [{ 'If-Unmodified-Since': before ?? '' }, 412],
        [{ 'If-Unmodified-Since': 'some day in 2001' }, 200],
        [{ 'If-Match': `"${sha256}"`, 'If-Unmodified-Since': before ?? '' }, 200],
        [{ 'If-Modified-Since': modified }, 304],
        [{ 'If-Modified-Since': before ?? '' }, 200],
        [{ 'If-None-Match': '"other"', 'If-Modified-Since': after ?? '' }, 200],
        [{ Range: 'bytes=0-3', 'If-Range': modified }, 206],
        [{ Range: 'bytes=0-3', 'If-Range': after ?? '' }, 200],
        [{ Range: 'bytes=0-3', 'If-Match': '"other"' }, 412],
      ];
      for (const [headers, status] of cases) {
        const answer = await content(id, headers);
        expect([headers, answer.status]).toEqual([headers, status]);
        if (status === 412) expect(await answer.json()).toMatchObject({ error: { code: 'precondition_failed' } });
      }
    });

    it('answers HEAD as GET without the bytes', async () => {
      const { id } = await makeFile('0123456789');
      const [head, get] = [await content(id, {}, 'HEAD'), await content(id)];
      expect([head.status, await head.text()]).toEqual([200, '']);
      // Of the connection and of the request, not of the file.
      const others = { date: '', 'x-request-id': '', connection: '', 'keep-alive': '' };
      const headers = (answer: Response) => {
        const kept = [...answer.headers].filter(([name]) => !/^(x-)?ratelimit/.test(name));
        return { ...Object.fromEntries(kept), ...others };
      };
      expect(headers(head)).toEqual(headers(get));
      await get.text();
    });

    it('gives an empty file', async () => {
      const { id } = await makeFile('');
      const answer = await content(id);
      expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '0', '']);
      expect((await content(id, { Range: 'bytes=0-' })).status).toBe(416);
    });

    it('closes the file when the client goes in the middle', async () => {
      // The streams themselves, because a descriptor that is left open is closed by the garbage collector, some day.
      const streams: Readable[] = [];
      const storage = service.app.get(LocalStorage, { strict: false });
      const open = storage.open.bind(storage);
      storage.open = async (...wanted) => {
        const opened = await open(...wanted);
        streams.push(opened.stream);
        return opened;
      };
      // More than the buffers of a connection hold.
      const { id } = await makeFile(new Uint8Array(32 * 1024 * 1024));
      const lines = [`GET /v1/files/${id}/content HTTP/1.1`, 'Host: x', `Authorization: Bearer ${member.key.secret}`];
      for (let i = 0; i < 5; i += 1) {
        const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
        socket.write(`${lines.join('\r\n')}\r\n\r\n`);
        await once(socket, 'readable');
        socket.destroy();
      }
      storage.open = open;
      await until('every file is closed', () => streams.length === 5 && streams.every(({ closed }) => closed));
      expect(streams.every(({ readableEnded }) => !readableEnded)).toBe(true);
      expect(await openFiles(service)).toBe(0);
    });

    it('takes the link from the Host header only when that is one', async () => {
      const { id } = await makeFile('x');
      const link = (headers: Record<string, string>) =>
        new Promise<string>((resolve, reject) => {
          const Authorization = `Bearer ${member.key.secret}`;
          const sent = request(
            `${service.url}/v1/files/${id}`,
            { headers: { Authorization, ...headers } },
            (answer) => {
              let text = '';
              answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
              answer.on('end', () => resolve((JSON.parse(text) as { file: { downloadUrl: string } }).file.downloadUrl));
            },
          );
          sent.on('error', reject).end();
        });
      expect(await link({ Host: 'mill.example:8080' })).toBe(`http://mill.example:8080/v1/files/${id}/content`);
      expect(await link({ Host: "a'b(c)" })).toBe(`${service.url}/v1/files/${id}/content`);
      const forwarded = { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' };
      expect(await link(forwarded)).toBe(`${service.url}/v1/files/${id}/content`);
    });
  });
});
