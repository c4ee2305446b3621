import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { attach, makeTask, postForm, upload } from '../harness/files.js';
import { type Call, type Fault, S3Stand } from '../harness/s3-stand.js';
import { until } from '../harness/until.js';

const MIB = 1024 * 1024;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const some = (size: number) => new Uint8Array(randomBytes(size));

/** The fault for the first `times` requests that `of` names. */
function faulty(times: number, fault: Fault, of: (call: Call) => boolean): (call: Call) => Fault | null {
  let left = times;
  return (call) => (of(call) && left-- > 0 ? fault : null);
}
const puts = ({ method, query, key }: Call) => method === 'PUT' && !query.has('uploadId') && key.includes('/files/');
const parts = ({ method, query }: Call) => method === 'PUT' && query.has('partNumber');
const gets = ({ method, key }: Call) => method === 'GET' && key !== '';

describe('Files in S3 (reference §7, §16)', () => {
  let stand: S3Stand;
  let service: TestApp;
  let member: Member;

  beforeAll(async () => {
    stand = await S3Stand.start();
    service = await bootApp({ env: stand.env });
    member = await makeMember(service);
  });
  afterEach(() => {
    stand.fault = () => null;
    stand.clock = 0;
  });
  afterAll(async () => {
    await service.close();
    await stand.close();
  });

  /** A file that is uploaded and belongs to a task. */
  async function kept(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const { id } = await upload(service, member, bytes);
    const [file] = await attach(service, member, await makeTask(service, member), [id]);
    return String(file?.id);
  }
  const download = (id: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(`${service.url}/v1/files/${id}/content`, {
      headers: { Authorization: `Bearer ${member.key.secret}`, ...headers },
      ...(signal && { signal }),
    });
  const bytesOf = async (id: string) => new Uint8Array(await (await download(id)).arrayBuffer());
  const form = (bytes: Uint8Array<ArrayBuffer>) => {
    const made = new FormData();
    made.append('file', new Blob([bytes]), 'a.bin');
    return made;
  };
  const storageCheck = async () => {
    const health = (await (await fetch(`${service.url}/health/ready`)).json()) as { checks: { storage: string } };
    return health.checks.storage;
  };
  const spooled = () => readdir(join(service.app.get(DataDir).path, 'spool')).catch(() => []);

  it('a file of several parts comes back whole and in ranges, and nothing stays on the way', async () => {
    const bytes = some(24 * MIB);
    const id = await kept(bytes);
    expect(sha256(await bytesOf(id))).toBe(sha256(bytes));
    const range = await download(id, { Range: `bytes=${16 * MIB - 5}-${16 * MIB + 4}` });
    expect([range.status, new Uint8Array(await range.arrayBuffer())]).toEqual([206, bytes.slice(16 * MIB - 5, 16 * MIB + 5)]); // prettier-ignore
    expect([...stand.uploads]).toEqual([]);
    expect(await spooled()).toEqual([]);
  });

  it.each<[string, Fault, (call: Call) => boolean]>([
    ['503 for a while', { answer: 503, code: 'ServiceUnavailable' }, puts],
    ['SlowDown for a while', { answer: 503, code: 'SlowDown' }, puts],
    ['bytes that are altered on their way', { alterRequest: true }, puts],
    ['a connection that breaks in the middle', { cutRequest: true }, puts],
    ['a part that is altered on its way', { alterRequest: true }, parts],
    ['a connection that breaks in a part', { cutRequest: true }, parts],
  ])('an upload outlives %s', async (_, fault, of) => {
    const bytes = some(of === parts ? 17 * MIB : MIB);
    stand.fault = faulty(2, fault, of);
    expect(sha256(await bytesOf(await kept(bytes)))).toBe(sha256(bytes));
  });

  it('a wrong clock is corrected', async () => {
    stand.clock = 20 * 60_000;
    const bytes = some(1000);
    expect(await bytesOf(await kept(bytes))).toEqual(bytes);
  });

  it('connections that are refused for a while cost no upload', async () => {
    await stand.refuse();
    const bytes = some(1000);
    const refused = stand.refused(3);
    const uploading = kept(bytes);
    await refused;
    await stand.listen();
    expect(await bytesOf(await uploading)).toEqual(bytes);
  });

  it('what stays busy is 503 unavailable with Retry-After, for uploads and downloads, and leaves nothing', async () => {
    const id = await kept(some(1000));
    const before = await stand.objects();
    stand.fault = () => ({ answer: 503, code: 'SlowDown' });
    for (const answer of [await postForm(service, member, form(some(17 * MIB))), await download(id)]) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      expect(((await answer.json()) as ErrorBody).error).toMatchObject({ code: 'unavailable', retryable: true });
    }
    expect(await storageCheck()).toBe('degraded');
    stand.fault = () => null;
    expect([await stand.objects(), await spooled()]).toEqual([before, []]);
  });

  it('a full storage is 503 storage_full', async () => {
    stand.fault = faulty(1, { answer: 507, code: 'XMinioStorageFull' }, puts);
    const answer = await postForm(service, member, form(some(10)));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
    expect(((await answer.json()) as ErrorBody).error.code).toBe('storage_full');
  });

  it('an upload of which a part fails leaves no part: it is aborted at once, and by the sweep when that fails too', async () => {
    stand.fault = (call) => (parts(call) ? { answer: 403, code: 'AccessDenied' } : null);
    expect((await postForm(service, member, form(some(17 * MIB)))).status).toBe(500);
    expect([...stand.uploads]).toEqual([]);
    stand.fault = (call) => (parts(call) || call.method === 'DELETE' ? { answer: 403, code: 'AccessDenied' } : null);
    expect((await postForm(service, member, form(some(17 * MIB)))).status).toBe(500);
    stand.fault = () => null;
    const [left] = [...stand.uploads.values()];
    const cleaner = service.app.get(FileCleaner, { strict: false });
    await cleaner.sweep();
    expect(stand.uploads.size).toBe(1);
    if (left !== undefined) left.initiated -= 25 * 3_600_000;
    expect(await cleaner.sweep()).toBe(1);
    expect(stand.uploads.size).toBe(0);
  });

  it('a download goes on where its connection broke, and one of altered bytes never looks whole', async () => {
    const bytes = some(3 * MIB);
    const id = await kept(bytes);
    stand.fault = faulty(2, { cutAnswer: MIB }, gets);
    expect(sha256(await bytesOf(id))).toBe(sha256(bytes));
    stand.fault = faulty(9, { alterAnswer: true }, gets);
    await expect(bytesOf(id)).rejects.toThrow();
  });

  it('who goes in the middle of a download ends it there too', async () => {
    const id = await kept(some(30 * MIB));
    const gone = new AbortController();
    const { body } = await download(id, {}, gone.signal);
    await body?.getReader().read();
    expect(stand.downloads).toBe(1);
    gone.abort();
    await until('the bucket to be left', () => stand.downloads === 0);
  });

  it('members that read slowly keep nobody else from the bucket', async () => {
    // More than all the buffers on the way take.
    const id = await kept(some(32 * MIB));
    const gone = new AbortController();
    // Nobody reads what is answered.
    const slow = Promise.allSettled(Array.from({ length: 72 }, () => download(id, {}, gone.signal)));
    await until('most of them to be under way at once', () => stand.downloads > 64);
    expect((await postForm(service, await makeMember(service), form(some(100)))).status).toBe(201);
    await until('readiness', async () => (await storageCheck()) === 'ok');
    gone.abort();
    await slow;
    await until('the bucket to be left', () => stand.downloads === 0);
  });

  it('a maker that does not list uploads in parts has its files swept all the same', async () => {
    const asked: Call[] = [];
    stand.fault = (call) => {
      if (call.method !== 'GET' || !call.query.has('uploads')) return null;
      asked.push(call);
      return { answer: 501, code: 'NotImplemented' };
    };
    await upload(service, member, some(10));
    await service.db.query('UPDATE uploads SET expires_at = now()');
    const cleaner = service.app.get(FileCleaner, { strict: false });
    await cleaner.purgeUploads();
    await stand.age();
    expect(await cleaner.sweep()).toBeGreaterThan(0);
    expect(asked).toHaveLength(1);
  });

  it('a deletion whose outcome is unknown leaves its sign beside the object, and the next sweep ends both', async () => {
    const bytes = some(77);
    await upload(service, member, bytes);
    await service.db.query('UPDATE uploads SET expires_at = now()');
    const cleaner = service.app.get(FileCleaner, { strict: false });
    await cleaner.purgeUploads();
    await stand.age();
    const named = async () => (await stand.objects()).filter((key) => key.includes(sha256(bytes)));
    stand.fault = ({ method, key }) => (method === 'DELETE' && key.endsWith(sha256(bytes)) ? { answer: 503, code: 'SlowDown' } : null); // prettier-ignore
    await expect(cleaner.sweep()).rejects.toThrow('does not answer');
    const [object = ''] = await named();
    expect(await named()).toEqual([object, `${object}.leaving`]);
    stand.fault = () => null;
    await stand.age();
    await cleaner.sweep();
    expect(await named()).toEqual([]);
  });

  it('after all that, what no row points at goes with the sweep, and the rest stays', async () => {
    await stand.age();
    await service.app.get(FileCleaner, { strict: false }).sweep();
    const rows = await service.db.query<{ sha256: string }>(
      'SELECT sha256 FROM files UNION SELECT sha256 FROM uploads',
    );
    const names = (await stand.objects()).map((key) => key.split('/').at(-1));
    expect(new Set(names)).toEqual(new Set(rows.map((row) => row.sha256)));
  });

  it('a bucket that is not there, and one that does not answer, stop the boot with what to do', async () => {
    const boot = (env: Record<string, string>) => bootApp({ env: { ...stand.env, ...env } });
    await expect(boot({ S3_BUCKET: 'nowhere' })).rejects.toThrow(/^S3_BUCKET: a bucket that exists is expected/);
    await expect(boot({ S3_ENDPOINT: 'http://127.0.0.1:9' })).rejects.toThrow(/^S3_ENDPOINT: a storage that answers/);
    const before = await stand.objects();
    stand.fault = (call) => (call.method === 'DELETE' ? { answer: 403, code: 'AccessDenied' } : null);
    await expect(boot({})).rejects.toThrow(/cannot be deleted from: the credentials need .*s3:DeleteObject/);
    // What such a look leaves is for the sweep.
    stand.fault = () => null;
    expect((await stand.objects()).length).toBe(before.length + 1);
    await stand.age();
    await service.app.get(FileCleaner, { strict: false }).sweep();
    expect(await stand.objects()).toEqual(before);
  });
});
