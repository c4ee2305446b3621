import { renameSync } from 'node:fs';
import { LocalStorage } from '../../src/resources/files/storage/local/local-storage.js';
import { snapshotsPlace } from '../../src/resources/files/storage/snapshots-place.js';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { call, createTask, finished, reaches, runTask, script } from '../harness/tasks.js';

const bash = (command: string) => call('bash', { command });

interface Listed {
  entries: { path: string; kind: string; size: number; mediaType: string | null; modifiedAt: string }[];
  snapshot: { id: string; turn: number; step: number; files: number; bytes: number; createdAt: string } | null;
  nextCursor: string | null;
}

describe('The folder of a task (reference §22)', () => {
  let model: ModelServer;
  let who: Member;
  let taskId: string;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => {
    who = await makeMember(service, { role: 'owner' });
    const made = [
      'mkdir -p docs/deep; printf "# Title" > docs/a.md; echo 1 > docs/b.csv; ln -s a.md docs/link; mkfifo docs/pipe',
      'touch -d 2001-02-03T04:05:06Z docs/a.md; echo x > /tmp/scratch; echo y > ~/notes; head -c 3000000 /dev/zero > zeros',
      'truncate -s 2000000 sparse; printf end >> sparse; echo odd > "$(printf "b\\377d")"; echo hidden > "/tmp/$(printf "a\\342\\200\\256fdp.exe")"',
    ];
    taskId = (await runTask(who.client, script(bash(made.join('; ')), { text: 'Done.' }))).id;
  });
  afterAll(() => model.stop());

  const at = (query: string) => `/v1/tasks/${taskId}/workdir${query}`;
  const listed = async (query: string) => {
    const answer = await who.client.get<Listed>(at(query));
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const read = (path: string, headers: Record<string, string> = {}) =>
    who.client.request<string>('GET', at(`/content?path=${encodeURIComponent(path)}`), { headers });
  const code = ({ status, body }: { status: number; body: unknown }) => [status, (body as ErrorBody).error.code];

  it('is listed, one folder at a time, by the bytes of the names', async () => {
    const { entries, snapshot } = await listed('?path=docs');
    expect(entries).toMatchObject([
      { path: 'docs/a.md', kind: 'file', size: 7, mediaType: 'text/markdown', modifiedAt: '2001-02-03T04:05:06.000Z' },
      { path: 'docs/b.csv', kind: 'file', size: 2, mediaType: 'text/csv' },
      { path: 'docs/deep', kind: 'folder', size: 0, mediaType: null },
      { path: 'docs/link', kind: 'link', mediaType: null },
    ]);
    expect(snapshot).toMatchObject({ turn: 1, files: 8 });
    expect((await listed('?path=/workdir/docs/deep')).entries).toEqual([]);
    expect((await listed('?path=/tmp')).entries).toMatchObject([
      { path: '/tmp/a\u202efdp.exe', kind: 'file' },
      { path: '/tmp/scratch', kind: 'file' },
    ]);
    expect((await listed('?path=/home/agent')).entries).toMatchObject([{ path: '/home/agent/notes' }]);
  });

  it('comes in pages', async () => {
    const first = await listed('?limit=2');
    const second = await listed(`?limit=2&cursor=${first.nextCursor}`);
    const names = [...first.entries, ...second.entries].map(({ path }) => path);
    expect(names).toEqual(['b\ufffdd', 'docs', 'sparse', 'zeros']);
    expect(second.nextCursor).toBeNull();
  });

  it('gives the bytes of a file, by the rules of any other file', async () => {
    const whole = await read('docs/a.md');
    expect([whole.status, whole.text]).toEqual([200, '# Title']);
    expect(whole.headers.get('content-type')).toBe('text/markdown');
    expect(whole.headers.get('content-disposition')).toContain('a.md');
    const etag = whole.headers.get('etag') ?? '';
    expect((await read('docs/a.md', { 'If-None-Match': etag })).status).toBe(304);
    const part = await read('docs/a.md', { Range: 'bytes=2-4' });
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([206, 'Tit', 'bytes 2-4/7']);
    expect((await read('docs/a.md', { Range: 'bytes=7-' })).status).toBe(416);
    const end = await read('sparse', { Range: 'bytes=1999998-' });
    expect(end.text).toBe('\0\0end');
    expect((await read('zeros')).text).toHaveLength(3_000_000);
    expect((await read('b\ufffdd')).text).toBe('odd\n');
    expect((await read('/tmp/scratch')).text).toBe('x\n');
    const hidden = await read('/tmp/a\u202efdp.exe');
    expect(hidden.text).toBe('hidden\n');
    expect(hidden.headers.get('content-disposition')).toMatch(/filename\*=UTF-8''afdp\.exe$/);
  });

  it('has nothing outside of its roots, follows no link, and says what is not there', async () => {
    for (const path of ['../../etc/passwd', '/etc/passwd', 'docs/none', 'docs/link', 'docs', '../workdirs']) {
      expect(code(await read(path))).toEqual([404, 'not_found']);
    }
    for (const path of ['..', '/etc', 'docs/a.md', 'docs/link', 'none']) {
      expect(code(await who.client.get(at(`?path=${encodeURIComponent(path)}`)))).toEqual([404, 'not_found']);
    }
    expect(code(await who.client.get(at('?snapshot=none')))).toEqual([404, 'not_found']);
    expect(code(await read('a\0b'))).toEqual([400, 'invalid_query']);
    expect(code(await who.client.get(at('/content')))).toEqual([404, 'not_found']);
  });

  it('is that of the snapshot that is asked for, and a running task shows its last one', async () => {
    const { client } = who;
    const again = await runTask(client, script(bash('echo first > a'), { text: 'Done.' }));
    const content = script(bash('echo second > a'), call('ask', { question: 'On?' }));
    await client.post(`/v1/tasks/${again.id}/messages`, { content });
    await reaches(client, again.id, 'awaiting_input');
    const path = `/v1/tasks/${again.id}`;
    const { body } = await client.get<{ snapshots: { id: string; turn: number }[] }>(`${path}/snapshots`);
    expect(body.snapshots.map(({ turn }) => turn)).toEqual([2, 1]);
    const textOf = async (query: string) => (await client.get(`${path}/workdir/content?path=a${query}`)).text;
    expect(await textOf('')).toBe('second\n');
    expect(await textOf(`&snapshot=${body.snapshots[1]?.id}`)).toBe('first\n');
    const pages = await client.get<{ snapshots: unknown[]; nextCursor: string }>(`${path}/snapshots?limit=1`);
    expect(pages.body.snapshots).toHaveLength(1);
    const rest = await client.get<{ snapshots: unknown[] }>(
      `${path}/snapshots?limit=1&cursor=${pages.body.nextCursor}`,
    );
    expect(rest.body.snapshots).toEqual(body.snapshots.slice(1));
    // A snapshot of another task is none of this one.
    expect((await client.get(at(`?snapshot=${body.snapshots[0]?.id}`))).status).toBe(404);
  });

  it('says that the bytes of a file are gone before it answers with any of them', async () => {
    const storage = service.app.get(LocalStorage, { strict: false });
    const objects = await service.db.query<{ path: string }>(
      `SELECT u.object AS path FROM snapshot_uses u JOIN snapshots s ON s.id = u.snapshot_id
       WHERE s.task_id = $1 AND u.object <> s.manifest`,
      [taskId],
    );
    const paths = objects.map(({ path }) => storage.pathOf(snapshotsPlace(who.workspace.id), path));
    for (const path of paths) renameSync(path, `${path}.away`);
    expect(code(await read('docs/a.md'))).toEqual([500, 'internal_error']);
    for (const path of paths) renameSync(`${path}.away`, path);
    expect((await read('docs/a.md')).text).toBe('# Title');
  });

  it('is dated by its snapshot: a file with an older time is another one all the same', async () => {
    const { client } = who;
    const { id } = await runTask(client, script(bash('echo first > a'), { text: 'Done.' }));
    await service.db.query(`UPDATE snapshots SET created_at = now() - interval '1 minute' WHERE task_id = $1`, [id]);
    const get = (headers: Record<string, string> = {}) =>
      client.request<string>('GET', `/v1/tasks/${id}/workdir/content?path=a`, { headers });
    const since = (await get()).headers.get('last-modified') ?? '';
    expect((await get({ 'If-Modified-Since': since })).status).toBe(304);
    expect((await get({ 'If-Range': since, Range: 'bytes=1-2' })).text).toBe('ir');
    const content = script(bash('echo other > a; touch -d 2001-02-03T04:05:06Z a'), { text: 'Done.' });
    await client.post(`/v1/tasks/${id}/messages`, { content });
    await finished(client, id);
    expect((await get({ 'If-Modified-Since': since })).text).toBe('other\n');
    expect((await get({ 'If-Range': since, Range: 'bytes=1-2' })).text).toBe('other\n');
  });

  it('is empty before the first snapshot', async () => {
    const { id } = await createTask(who.client, { content: script({ text: 'Hello.' }) });
    await finished(who.client, id);
    const answer = await who.client.get(`/v1/tasks/${id}/workdir`);
    expect(answer.body).toEqual({ entries: [], snapshot: null, nextCursor: null });
    expect((await who.client.get(`/v1/tasks/${id}/workdir?path=a`)).status).toBe(404);
  });

  it('is seen by those who see the task, with the scopes tasks:read and files:read', async () => {
    const stranger = await makeMember(service, { role: 'owner' });
    const colleague = await makeMember(service, { workspace: who.workspace });
    const tasksAlone = await makeMember(service, { workspace: who.workspace, role: 'owner', scopes: ['tasks:read'] });
    const paths = ['/snapshots', '/workdir', '/workdir/content?path=docs/a.md'].map(
      (path) => `/v1/tasks/${taskId}${path}`,
    );
    for (const { client } of [stranger, colleague]) {
      for (const path of paths) expect(code(await client.get(path))).toEqual([404, 'not_found']);
    }
    const statuses = paths.map(async (path) => (await tasksAlone.client.get(path)).status);
    expect(await Promise.all(statuses)).toEqual([200, 403, 403]);
  });
});
