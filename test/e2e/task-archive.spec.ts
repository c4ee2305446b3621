import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { ArchiveNames, harmless } from '../../src/resources/files/archive-names.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { attach, checkedFetch, makeTask, openFiles, upload } from '../harness/files.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

describe('Names in an archive (reference §7)', () => {
  it.each([
    ['a.txt', 'a.txt'],
    ['Grüße, 世界 🙂.md', 'Grüße, 世界 🙂.md'],
    ['../../etc/passwd', 'passwd'],
    ['/etc/passwd', 'passwd'],
    ['C:\\Windows\\win.ini', 'win.ini'],
    ['..', 'file'],
    ['.', 'file'],
    ['', 'file'],
    ['...', 'file'],
    ['a\0b\nc', 'abc'],
    ['a:b*?"<>|c', 'a_b______c'],
    ['CON', '_CON'],
    ['nul.txt', '_nul.txt'],
    ['Com1 .log', '_Com1 .log'],
    ['console', 'console'],
    ['ends. ', 'ends'],
    ['.env', '.env'],
    [`${'é'.repeat(200)}.txt`, `${'é'.repeat(125)}.txt`],
  ])('%j is %j', (given, name) => {
    expect(harmless(given)).toBe(name);
    expect(Buffer.byteLength(harmless(given))).toBeLessThanOrEqual(255);
  });

  it('are distinct where case, or the way in which an accent is written, does not count', () => {
    const names = new ArchiveNames('attachments');
    const given = ['a.txt', 'A.TXT', 'a.txt', 'a (2).txt', 'caf\u00e9', 'cafe\u0301', 'Attachments', 'x/a.txt'];
    expect(given.map((name) => names.add(name))).toEqual([
      'a.txt',
      'A (2).TXT',
      'a (3).txt',
      'a (2) (2).txt',
      'caf\u00e9',
      'cafe\u0301 (2)',
      'Attachments (2)',
      'a (4).txt',
    ]);
  });
});

describe('The files of a task as one zip (reference §7)', () => {
  let member: Member;
  const folder = mkdtempSync(join(tmpdir(), 'millwright-archive-'));

  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const authorization = () => ({ Authorization: `Bearer ${member.key.secret}` });
  const pathOf = (task: string) => `/v1/tasks/${task}/files/archive`;
  const archive = (task: string, method = 'GET') =>
    checkedFetch(service, pathOf(task), { method, headers: authorization() });
  const unzip = (...args: string[]) =>
    execFileSync('unzip', args, { cwd: folder, encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } });
  /** Files with these names and bytes, attached in this order; `published` ones become the agent's. */
  const files = async (task: string, published: boolean, ...given: [string, string | Uint8Array<ArrayBuffer>][]) => {
    for (const [name, bytes] of given) {
      const [file] = await attach(service, member, task, [(await upload(service, member, bytes, { name })).id]);
      if (published) {
        const sql = `UPDATE files SET origin = 'task', path = NULL, name = $2 WHERE id = $1`;
        await service.db.query(sql, [file?.id, name]);
      }
    }
  };
  /** Makes the bytes of the task's last file unreadable. */
  const lose = async (task: string) => {
    const sql = 'SELECT sha256 FROM files WHERE task_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1';
    const [row] = await service.db.query<{ sha256: string }>(sql, [task]);
    const root = join(service.app.get(DataDir).path, 'files');
    const found = readdirSync(root, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith(row?.sha256 ?? '-'));
    rmSync(join(root, found ?? ''));
  }; // prettier-ignore

  it('is unpacked by unzip(1) to the very bytes, names told apart; the length is known beforehand', async () => {
    const task = await makeTask(service, member);
    await service.db.query(`UPDATE tasks SET title = $2 WHERE id = $1`, [task, 'Größe: a/b "c"']);
    const large = randomBytes(3 * 1024 * 1024);
    await files(task, true, ['r.md', 'first'], ['R.md', 'second'], ['größe 世.txt', 'third'], ['empty', ''], ['large', large]);
    await files(task, false, ['r.md', 'attached'], ['r.md', 'again']);
    await service.db.query(`UPDATE files SET name = '../../evil\\..\\nul' WHERE task_id = $1 AND name = 'empty'`, [task]);
    const answer = await archive(task);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const head = (name: string) => answer.headers.get(name);
    expect([answer.status, head('content-type'), head('content-length')]).toEqual([200, 'application/zip', String(bytes.length)]);
    expect(head('content-disposition')).toBe(
      `attachment; filename="Gr__e_ a-b _c_.zip"; filename*=UTF-8''Gr%C3%B6%C3%9Fe_%20a-b%20_c_.zip`,
    );
    expect([head('cache-control'), head('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
    writeFileSync(join(folder, 'all.zip'), bytes);
    expect(unzip('-tq', 'all.zip')).toContain('No errors detected');
    unzip('-q', 'all.zip', '-d', 'out');
    const read = (name: string) => readFileSync(join(folder, 'out', name));
    const names = ['r.md', 'R (2).md', 'größe 世.txt', '_nul', 'large', 'attachments/r.md', 'attachments/r (2).md'];
    expect(unzip('-Z1', 'all.zip').trimEnd().split('\n')).toEqual(names);
    expect(names.filter((name) => name !== 'large').map((name) => String(read(name)))).toEqual([
      'first', 'second', 'third', '', 'attached', 'again',
    ]); // prettier-ignore
    expect(read('large').equals(large)).toBe(true);
    const asked = await archive(task, 'HEAD');
    expect([asked.status, asked.headers.get('content-length'), await asked.text()]).toEqual([200, String(bytes.length), '']);
  }); // prettier-ignore

  it('of a task without files is empty, and of one that is not seen 404', async () => {
    const bytes = Buffer.from(await (await archive(await makeTask(service, member))).arrayBuffer());
    expect(bytes.toString('latin1')).toBe(`PK\x05\x06${'\0'.repeat(18)}`);
    expect((await archive(await makeTask(service, await makeMember(service)))).status).toBe(404);
  });

  slowIt('of more files than an archive holds is 413', async () => {
    const task = await makeTask(service, member);
    const sql = `INSERT INTO files (id, workspace_id, task_id, origin, name, media_type, size, sha256, created_by)
      SELECT gen_random_uuid(), $1, $2, 'task', 'a', 'text/plain', 0, 'none', $3 FROM generate_series(1, 65535)`;
    await service.db.query(sql, [member.workspace.id, task, member.user.id]);
    expect((await archive(task)).status).toBe(413);
  });

  it('whose first file is gone from the storage is 500; with a later one the connection ends before the length is reached', async () => {
    const [one, two] = [await makeTask(service, member), await makeTask(service, member)];
    await files(one, false, ['lost', randomBytes(100)]);
    await lose(one);
    expect((await archive(one)).status).toBe(500);
    await files(two, false, ['there', randomBytes(100_000)], ['lost', randomBytes(100)]);
    await lose(two);
    const answer = await fetch(service.url + pathOf(two), { headers: authorization() });
    expect(answer.status).toBe(200);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    await until('the files to be closed', async () => (await openFiles(service)) === 0);
  });

  it('is read no further when the client has gone, and from one file at a time', async () => {
    const task = await makeTask(service, member);
    const bytes = randomBytes(20 * 1024 * 1024);
    await files(task, false, ['a', bytes], ['b', bytes]);
    const call = request(service.url + pathOf(task), { headers: authorization() }).end();
    const [response] = (await once(call, 'response')) as [NodeJS.ReadableStream];
    await once(response, 'readable');
    expect(await openFiles(service)).toBe(1);
    call.destroy();
    await until('the file to be closed', async () => (await openFiles(service)) === 0);
  });
});
