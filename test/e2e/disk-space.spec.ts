import { randomUUID } from 'node:crypto';
import { chownSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DiskSpace } from '../../src/platform/disk/disk-space.js';
import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { postForm, storedFiles, upload } from '../harness/files.js';
import { SmallDisk } from '../harness/small-disk.js';
import { createTask, finished, readResults, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

const MIB = 1024 * 1024;
const onSmallDisks = SmallDisk.possible ? describe : describe.skip;

function form(bytes: number | string): FormData {
  const made = new FormData();
  made.append('file', new Blob([typeof bytes === 'number' ? new Uint8Array(bytes) : bytes]), 'a.bin');
  return made;
}

const FULL = { type: 'internal_error', code: 'storage_full', retryable: true, param: null };

describe('Below DISK_RESERVE_BYTES (reference §16)', () => {
  let db: TestDatabase;
  let roomy: TestApp;
  let member: Member;
  let tasks: string[];
  let projectId: string;
  let uploadId: string;

  const service = useService(async () => {
    db = await createDatabase();
    roomy = await bootApp({ db });
    // No disk has as much.
    return bootApp({ db, env: { DISK_RESERVE_BYTES: String(2 ** 52) } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
    const before = new Client(roomy.url, member.key.secret);
    tasks = [];
    for (let n = 0; n < 3; n++) tasks.push((await createTask(before, { content: 'x' })).id);
    projectId = (await before.post<{ project: { id: string } }>('/v1/projects', { name: 'P' })).body.project.id;
    uploadId = (await upload(roomy, member, 'kept')).id;
  });
  afterAll(async () => {
    await roomy.close();
    await db.drop();
  });

  it('uploads, creates, messages and answers are 503 storage_full with Retry-After: 30, and leave nothing', async () => {
    const { client } = member;
    const counts = () =>
      db.query(`SELECT (SELECT count(*) FROM tasks) AS t, (SELECT count(*) FROM messages) AS m,
        (SELECT count(*) FROM uploads) AS u, (SELECT count(*) FROM projects) AS p, (SELECT count(*) FROM files) AS f`);
    const before = await counts();
    const attempts = [
      await client.post<ErrorBody>('/v1/tasks', { content: 'x' }),
      await client.post<ErrorBody>('/v1/projects', { name: 'Q' }),
      await client.post<ErrorBody>(`/v1/tasks/${tasks[0]}/messages`, { content: 'x' }),
      await client.post<ErrorBody>(`/v1/tasks/${tasks[0]}/interaction`, { interactionId: randomUUID(), content: 'x' }),
    ]; // prettier-ignore
    for (const { status, body, headers } of attempts) {
      expect([status, headers.get('retry-after')]).toEqual([503, '30']);
      expect(body.error).toMatchObject(FULL);
    }
    const sent = await postForm(service, member, form('bytes'));
    expect([sent.status, sent.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await sent.json()).toMatchObject({ error: FULL });
    expect(await storedFiles(service)).toEqual([]);
    expect(await counts()).toEqual(before);
  });

  it('who may not do it anyway hears that first', async () => {
    const stranger = await postForm(service, { ...member, key: { ...member.key, secret: 'mw_x' } }, form('bytes'));
    expect(stranger.status).toBe(401);
  });

  it('reads, changes, cancels and deletes go on', async () => {
    const { client } = member;
    expect((await client.get(`/v1/tasks/${tasks[0]}`)).status).toBe(200);
    expect((await client.get(`/v1/tasks/${tasks[0]}/messages`)).status).toBe(200);
    expect((await client.patch(`/v1/projects/${projectId}`, { name: 'R' })).status).toBe(200);
    expect((await client.post(`/v1/tasks/${tasks[1]}/cancel`)).status).toBe(200);
    expect((await client.delete(`/v1/tasks/${tasks[2]}`)).status).toBe(200);
    expect((await client.delete(`/v1/projects/${projectId}`)).status).toBe(200);
    expect(uploadId).toBeDefined();
  });

  it('readiness stays 200 and says that the storage is full; the figures have both numbers', async () => {
    const { status, body } = await member.client.get<{ checks: { storage: string } }>('/health/ready');
    expect([status, body.checks.storage]).toEqual([200, 'full']);
    const { text } = await member.client.get('/metrics');
    expect(text).toContain(`millwright_disk_reserve_bytes ${2 ** 52}`);
    expect(Number(/^millwright_disk_free_bytes (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
  });
});

it('the reserve is 5 % of the file system, from 128 MiB to 1 GiB, unless DISK_RESERVE_BYTES says otherwise (reference §16)', async () => {
  const service = await bootApp();
  const { reserve } = service.app.get(DiskSpace).scarcest;
  await service.close();
  const { blocks, bsize } = statfsSync('/tmp');
  const size = blocks * bsize;
  expect(reserve).toBe(Math.floor(Math.min(1024 ** 3, Math.max(size / 20, Math.min(128 * MIB, size / 5)))));
});

onSmallDisks('A disk that fills up', () => {
  slowIt(
    'queued runs wait while it is below the reserve, and go on by themselves when there is space again',
    async () => {
      const disk = await SmallDisk.make(64 * MIB);
      const service = await bootWorker({ env: { DATA_DIR: disk.path, DISK_RESERVE_BYTES: String(16 * MIB) } });
      try {
        const { client, key } = await makeMember(service);
        const ballast = join(disk.path, 'ballast');
        writeFileSync(ballast, Buffer.alloc(56 * MIB));
        const space = service.app.get(DiskSpace);
        await until('the worker to see it', () => space.state !== 'enough');
        // Taken in by another process, whose disk has room.
        const other = await bootApp({ db: service.db });
        const { id } = await createTask(new Client(other.url, key.secret), { content: '```bash\necho ran\n```' });
        await other.close();
        // Two looks of the reconciler.
        const looked = performance.now() + 2_100;
        await until('the worker to look twice', () => performance.now() > looked);
        expect((await readTask(client, id)).status).toBe('queued');
        rmSync(ballast);
        expect(await finished(client, id)).toMatchObject({ status: 'completed' });
      } finally {
        await service.close();
        await disk.remove();
      }
    },
  );

  it('a command that fills it is ended and told, gives its files back, and the task and others go on (reference §16)', async () => {
    const disk = await SmallDisk.make(128 * MIB);
    const reserve = 48 * MIB;
    const service = await bootWorker({ env: { DATA_DIR: disk.path, DISK_RESERVE_BYTES: String(reserve) } });
    try {
      const { client } = await makeMember(service);
      const fill = 'i=0; while :; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); sleep 0.01; done';
      const steps = ['head -c 5000000 /dev/zero > kept', fill, 'echo more > g; wc -c < kept'];
      const content = steps.map((step) => `\`\`\`bash may-fail\n${step}\n\`\`\``).join('\n\n');
      const { id } = await createTask(client, { content });
      await finished(client, id);
      const results = (await readResults(client, id)) as {
        output: { exitCode: number; stdout: string; stderr: string };
      }[];
      expect(results.map(({ output }) => output.exitCode)).toEqual([0, 137, 0]);
      expect(results[1]?.output.stderr).toMatch(/filled the disk of the service.*the largest were deleted/);
      expect(results[2]?.output.stdout).toBe('5000000\n');
      // The room is there again with nobody's help.
      expect(
        await finished(client, (await createTask(client, { content: '```bash\necho ran\n```' })).id),
      ).toMatchObject({
        status: 'completed',
      });
    } finally {
      await service.close();
      await disk.remove();
    }
  });

  it('an upload that finds no space is 503 storage_full, and nothing of it is left (reference §10)', async () => {
    const disk = await SmallDisk.make(8 * MIB);
    const service = await bootApp({ env: { DATA_DIR: disk.path, DISK_RESERVE_BYTES: '0' } });
    try {
      const member = await makeMember(service);
      const answer = await postForm(service, member, form(12 * MIB));
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
      expect(await answer.json()).toMatchObject({ error: FULL });
      expect(await storedFiles(service)).toEqual([]);
      expect(await service.db.query('SELECT 1 FROM uploads')).toEqual([]);
      const { body } = { body: await upload(service, member, 'small') };
      expect(body.size).toBe(5);
    } finally {
      await service.close();
      await disk.remove();
    }
  });

  it('an upload in whose middle the reserve is reached is 503 storage_full, and nothing of it is left', async () => {
    const disk = await SmallDisk.make(64 * MIB);
    const service = await bootApp({ env: { DATA_DIR: disk.path, DISK_RESERVE_BYTES: String(16 * MIB) } });
    try {
      const member = await makeMember(service);
      const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
      const space = service.app.get(DiskSpace);
      async function* slowly() {
        yield Buffer.from(head);
        for (let sent = 0; space.state === 'enough' && sent < 60; sent++) {
          yield Buffer.alloc(MIB);
          await space.measure();
        }
        yield Buffer.alloc(MIB);
        yield Buffer.from('\r\n--b--\r\n');
      }
      const answer = await fetch(`${service.url}/v1/uploads`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${member.key.secret}`,
          'Content-Type': 'multipart/form-data; boundary=b',
        },
        body: ReadableStream.from(slowly()),
        duplex: 'half',
      });
      expect([answer.status, await answer.json()]).toMatchObject([503, { error: FULL }]);
      expect(await storedFiles(service)).toEqual([]);
    } finally {
      await service.close();
      await disk.remove();
    }
  });

  it("a request that finds the database's disk full is 503 storage_full and leaves nothing (reference §10)", async () => {
    const disk = await SmallDisk.make(4 * MIB);
    const service = await bootApp();
    const space = `small_${randomUUID().replaceAll('-', '')}`;
    try {
      const member = await makeMember(service);
      const [data] = await service.db.query<{ data_directory: string }>('SHOW data_directory');
      const folder = join(disk.path, 'tables');
      mkdirSync(folder);
      const { uid, gid } = statSync(data?.data_directory ?? '');
      chownSync(folder, uid, gid);
      await db(service, `CREATE TABLESPACE ${space} LOCATION '${folder}'`);
      await db(service, `ALTER TABLE projects SET TABLESPACE ${space}`);
      await db(service, `CREATE TABLE ballast (x text STORAGE plain) TABLESPACE ${space}`);
      const fill = `INSERT INTO ballast SELECT repeat('x', 7000) FROM generate_series(1, 2000)`;
      await expect(db(service, fill)).rejects.toMatchObject({ code: '53100' });
      const { status, body, headers } = await member.client.post<ErrorBody>('/v1/projects', { name: 'P' });
      expect([status, headers.get('retry-after'), body.error]).toMatchObject([503, '30', FULL]);
      expect(await db(service, 'SELECT 1 FROM projects')).toEqual([]);
      await db(service, 'DROP TABLE ballast');
      expect((await member.client.post('/v1/projects', { name: 'P' })).status).toBe(201);
    } finally {
      await db(service, 'ALTER TABLE projects SET TABLESPACE pg_default').catch(() => undefined);
      await db(service, 'DROP TABLE IF EXISTS ballast').catch(() => undefined);
      await db(service, `DROP TABLESPACE IF EXISTS ${space}`).catch(() => undefined);
      await service.close();
      await disk.remove();
    }
  });
});

function db(service: TestApp, sql: string): Promise<unknown[]> {
  return service.db.query(sql);
}
