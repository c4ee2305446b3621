import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { utimes } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { ChoreRunner } from '../../src/platform/chores/chore-runner.js';
import { Database } from '../../src/platform/database/database.js';
import { LOCKS } from '../../src/platform/database/locks.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { FileStorage } from '../../src/resources/files/storage/file-storage.js';
import { LocalStorage } from '../../src/resources/files/storage/local/local-storage.js';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { attach, makeTask, openFiles, postForm, storedFiles, type Upload, upload } from '../harness/files.js';
import { until } from '../harness/until.js';

const LIMIT = 1024 * 1024;
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('Uploads (reference §7)', () => {
  let member: Member;

  const service = useService(() => bootApp({ env: { MAX_UPLOAD_BYTES: String(LIMIT) } }));
  beforeAll(async () => {
    member = await makeMember(service);
  });

  const uploads = async () => (await service.db.query<{ n: number }>('SELECT count(*)::int AS n FROM uploads'))[0]?.n;

  describe('POST /v1/uploads', () => {
    it('answers 201 with the upload, its Location, and an end 24 hours ahead by the clock of the database', async () => {
      const form = new FormData();
      form.append('file', new Blob(['# Hello\n'], { type: 'text/markdown' }), 'notes.md');
      const answer = await postForm(service, member, form);
      const body = (await answer.json()) as { upload: Upload };
      expect(answer.status).toBe(201);
      const { id, expiresAt } = body.upload;
      expect(body).toEqual({ upload: { id, name: 'notes.md', mediaType: 'text/markdown', size: 8, expiresAt } });
      expect(answer.headers.get('location')).toBe(`/v1/uploads/${id}`);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const [row] = await service.db.query<{ lifetime: number; end: Date }>(
        `SELECT extract(epoch FROM expires_at - created_at)::int AS lifetime, expires_at AS end FROM uploads WHERE id = $1`,
        [id],
      );
      expect([row?.lifetime, row?.end.toISOString()]).toEqual([86_400, expiresAt]);
    });

    it('shares equal bytes', async () => {
      await Promise.all([upload(service, member, 'shared'), upload(service, member, 'shared', { name: 'b.txt' })]);
      expect((await storedFiles(service)).filter((name) => name === sha256('shared'))).toHaveLength(1);
    });

    it.each([
      ['a path', 'dir/sub/x.txt', 'x.txt'],
      ['a Windows path', 'C:\\dir\\x.txt', 'x.txt'],
      ['a way out', '../../x.txt', 'x.txt'],
      ['other scripts', 'Übersicht 報告 🎉.md', 'Übersicht 報告 🎉.md'],
      ['control characters', 'a\u0001\u0007b\tc.txt', 'abc.txt'],
      ['quotes, which forms escape', 'say "hi".txt', 'say "hi".txt'],
      ['line breaks, which forms escape', 'a\r\nb.txt', 'ab.txt'],
      ['nothing', '..', 'file'],
      ['300 bytes', `${'é'.repeat(150)}.txt`, `${'é'.repeat(125)}.txt`],
    ])('cleans a name of %s', async (_what, given, name) => {
      expect(await upload(service, member, 'x', { name: given })).toMatchObject({ name });
    });

    it.each(['invoice\u202efdp.exe', 'a\u200bb', 'a\u2028b', 'a\u2066b', 'a\u{e0041}', 'dir/a\ufeffb'])(
      'refuses the name %j, and keeps nothing',
      async (name) => {
        const form = new FormData();
        form.append('file', new Blob([`bytes of ${name}`]), name);
        const answer = await postForm(service, member, form);
        expect(answer.status).toBe(400);
        expect(await answer.json()).toMatchObject({
          error: { code: 'invalid_field', param: 'file', message: expect.stringMatching(/^The name of the file must/) },
        });
        expect(await storedFiles(service)).not.toContain(sha256(`bytes of ${name}`));
      },
    );

    it('takes the media type from the bytes, then the declared one, then none', async () => {
      const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
      expect(await upload(service, member, png, { type: 'text/html' })).toMatchObject({ mediaType: 'image/png' });
      expect(await upload(service, member, '<p>', { type: 'text/html' })).toMatchObject({ mediaType: 'text/html' });
      const body = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--b--\r\n';
      for (const declared of ['', 'Content-Type: nonsense\r\n', 'Content-Type: a/b/c\r\n', 'Content-Type: */*\r\n']) {
        const form = body.replace('\r\n\r\n', `\r\n${declared}\r\n`);
        const answer = await postForm(service, member, form, 'multipart/form-data; boundary=b');
        expect(await answer.json()).toMatchObject({ upload: { mediaType: 'application/octet-stream' } });
      }
    });

    it('accepts an empty file, and one of exactly the largest size', async () => {
      expect(await upload(service, member, '')).toMatchObject({ size: 0 });
      expect(await upload(service, member, new Uint8Array(LIMIT))).toMatchObject({ size: LIMIT });
    });

    it('takes 60 at once', async () => {
      const before = (await uploads()) ?? 0;
      const files = Array.from({ length: 60 }, () => randomBytes(200_000));
      const made = await Promise.all(files.map((bytes) => upload(service, member, bytes)));
      expect(new Set(made.map(({ id }) => id)).size).toBe(60);
      expect(await uploads()).toBe(before + 60);
      expect(await storedFiles(service)).toEqual(expect.arrayContaining(files.map(sha256)));
      await until('every file is closed', async () => (await openFiles(service)) === 0);
    });
  });

  describe('what is refused leaves nothing behind', () => {
    let before: [number | undefined, string[]];
    beforeEach(async () => {
      before = [await uploads(), (await storedFiles(service)).sort()];
    });
    afterEach(async () => {
      expect([await uploads(), (await storedFiles(service)).sort()]).toEqual(before);
      expect(await openFiles(service)).toBe(0);
    });

    const file = (name: string, bytes: Uint8Array<ArrayBuffer> = randomBytes(100)) =>
      [name, new Blob([bytes]), 'x'] as const;
    const refused = async (answer: Response, status: number, code: string) => {
      const { error } = (await answer.json()) as ErrorBody;
      expect([answer.status, error.code]).toEqual([status, code]);
      expect(answer.headers.get('location')).toBeNull();
      return error.param;
    };

    it.each([
      ['missing', []],
      ['sent twice', [file('file'), file('file')]],
      ['under another name', [file('files')]],
      ['sent with another', [file('file'), file('other')]],
    ])('a file that is %s is 400', async (_what, parts) => {
      const form = new FormData();
      for (const part of parts) form.append(...part);
      expect(await refused(await postForm(service, member, form), 400, 'invalid_body')).toBe('file');
    });

    it.each(['before', 'after'])('a field %s the file is 400', async (place) => {
      const form = new FormData();
      if (place === 'before') form.append('field', '1');
      form.append(...file('file'));
      if (place === 'after') form.append('field', '1');
      await refused(await postForm(service, member, form), 400, 'invalid_body');
    });

    it('a broken form is 400', async () => {
      const body = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nnever seen\r\n--b';
      await refused(await postForm(service, member, body, 'multipart/form-data; boundary=b'), 400, 'invalid_body');
      await refused(await postForm(service, member, body, 'multipart/form-data'), 400, 'invalid_body');
    });

    it('anything but a form is 415', async () => {
      for (const type of ['application/json', 'application/octet-stream', 'multipart/mixed; boundary=b']) {
        await refused(await postForm(service, member, '{}', type), 415, 'unsupported_media_type');
      }
    });

    it.each([
      ['a byte too many', LIMIT + 1],
      ['far too many', 20 * LIMIT],
    ])('%s is 413', async (_what, size) => {
      const form = new FormData();
      form.append(...file('file', new Uint8Array(size).fill(7)));
      await refused(await postForm(service, member, form), 413, 'too_large');
    });

    it('a client that sends all of it before it reads gets the 413 too', async () => {
      const socket = begin(5 * LIMIT);
      const answered = once(socket, 'data') as Promise<[Buffer]>;
      for (let sent = 0; sent < 5 * LIMIT; sent += LIMIT) {
        await new Promise((resolve) => socket.write(Buffer.alloc(LIMIT, 7), resolve));
      }
      expect((await answered)[0].toString()).toMatch(/^HTTP\/1\.1 413 /);
      socket.destroy();
    });

    it('a client that breaks off', async () => {
      const socket = begin(LIMIT);
      socket.write(randomBytes(200_000));
      await until('bytes arrive', async () => (await openFiles(service)) === 1);
      socket.destroy();
      await until('the file is closed and gone', async () => {
        return (await openFiles(service)) === 0 && (await storedFiles(service)).length === before[1].length;
      });
    });

    it('a key without files:write', async () => {
      const reader = await makeMember(service, { workspace: member.workspace, scopes: ['files:read'] });
      const form = new FormData();
      form.append(...file('file'));
      await refused(await postForm(service, reader, form), 403, 'missing_scope');
    });

    // Begins an upload whose whole form has `length` bytes.
    function begin(length: number): Socket {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
      const lines = [
        'POST /v1/uploads HTTP/1.1',
        'Host: x',
        `Authorization: Bearer ${member.key.secret}`,
        'Content-Type: multipart/form-data; boundary=b',
        `Content-Length: ${length + head.length}`,
      ];
      socket.write(`${lines.join('\r\n')}\r\n\r\n${head}`);
      return socket;
    }
  });

  describe('expired uploads', () => {
    const expire = (id: string) => service.db.query(`UPDATE uploads SET expires_at = now() WHERE id = $1`, [id]);
    const age = (bytes: string) => utimes(pathOf(bytes), new Date(0), new Date(0));
    const pathOf = (bytes: string) =>
      service.app.get(LocalStorage, { strict: false }).pathOf(member.workspace.id, sha256(bytes));
    const cleaner = () => service.app.get(FileCleaner, { strict: false });
    const stored = async (bytes: string) => (await storedFiles(service)).includes(sha256(bytes));

    it('are purged, and their bytes when nothing else uses them', async () => {
      const [gone, kept, shared] = await Promise.all(
        ['gone', 'kept', 'shared too'].map((text) => upload(service, member, text)),
      );
      const task = await makeTask(service, member);
      await attach(service, member, task, [String(kept?.id)]);
      await upload(service, member, 'shared too');
      for (const { id } of [gone, kept, shared].flatMap((one) => one ?? [])) await expire(id);
      for (const bytes of ['gone', 'kept', 'shared too']) await age(bytes);
      expect(await cleaner().purgeUploads()).toBe(3);
      expect(await cleaner().purgeUploads()).toBe(0);
      expect(await cleaner().sweep()).toBe(1);
      expect([await stored('gone'), await stored('kept'), await stored('shared too')]).toEqual([false, true, true]);
    });

    it('stay while a transaction that references them is open, and so do the bytes', async () => {
      const { id } = await upload(service, member, 'claimed');
      await age('claimed');
      const task = await makeTask(service, member);
      await attach(service, member, task, [id], async () => {
        await expire(id);
        expect(await cleaner().purgeUploads()).toBe(0);
        expect(await cleaner().sweep()).toBe(0);
      });
      expect(await cleaner().purgeUploads()).toBe(1);
      expect(await cleaner().sweep()).toBe(0);
      expect(await stored('claimed')).toBe(true);
    });

    it('bytes of a workspace that the database does not know are left alone', async () => {
      const foreign = '0197a000-0000-7000-8000-00000000000f';
      const { sha256: digest } = await service.app
        .get(FileStorage, { strict: false })
        .put(foreign, Readable.from([Buffer.from('foreign')]));
      const path = service.app.get(LocalStorage, { strict: false }).pathOf(foreign, digest);
      await utimes(path, new Date(0), new Date(0));
      expect(await cleaner().sweep()).toBe(0);
      expect(await stored('foreign')).toBe(true);
    });

    it('one process at a time walks through the storage', async () => {
      const other = await service.app.get(Database).work.connect();
      await other.query('SELECT pg_advisory_lock($1)', [LOCKS.unusedBytes]);
      const sweep = () => service.app.get(ChoreRunner).run(cleaner(), 'sweep');
      expect(await sweep()).toBeNull();
      await other.query('SELECT pg_advisory_unlock($1)', [LOCKS.unusedBytes]);
      other.release();
      expect(await sweep()).toBe(0);
    });
  });
});
