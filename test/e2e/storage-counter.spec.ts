import { randomBytes, randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { UsersService } from '../../src/access/workspaces/users.service.js';
import { MIGRATIONS } from '../../src/operator/migrations/index.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase } from '../harness/database.js';
import { upload } from '../harness/files.js';
import { ModelServer } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import { addProjectFile, createProject } from '../harness/projects.js';
import { call, createTask, finished, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

const LIMIT = 1024 * 1024;

/** The workspaces whose counter is not the sum of what is there. */
const DRIFT = `
SELECT * FROM (
  SELECT s.*, coalesce((
    SELECT sum(size) FROM (
      SELECT sha256, size FROM uploads u WHERE u.workspace_id = s.workspace_id UNION
      SELECT sha256, size FROM files f WHERE f.workspace_id = s.workspace_id) bytes), 0) AS stored,
    coalesce((SELECT sum(workdir_bytes) FROM tasks t WHERE t.workspace_id = s.workspace_id), 0) AS workdirs
  FROM storage_usage s) found
WHERE stored <> stored_bytes OR workdirs <> workdir_bytes`;

describe('What a workspace stores is counted (reference §14)', () => {
  let model: ModelServer;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  afterAll(() => model.stop());

  const bash = (command: string) => call('bash', { command });
  const counted = async ({ workspace }: Member) => {
    const sql = `SELECT stored_bytes::int AS stored, workdir_bytes::int AS workdirs FROM storage_usage WHERE workspace_id = $1`;
    const [row] = await service.db.query<{ stored: number; workdirs: number }>(sql, [workspace.id]);
    return row;
  };

  it('equal bytes count once, whatever points at them, until nothing does', async () => {
    const who = await makeMember(service, { role: 'owner' });
    const [bytes, { id: projectId }] = [randomBytes(LIMIT), await createProject(who)];
    const [first] = await Promise.all([bytes, bytes, bytes].map((one) => upload(service, who, one)));
    await Promise.all([bytes, bytes].map((one) => addProjectFile(service, who, projectId, one)));
    const attachments = Array.from({ length: 5 }, () => ({ uploadId: first?.id ?? '' }));
    const task = await createTask(who.client, { content: 'Look.', attachments });
    await finished(who.client, task.id);
    expect(await counted(who)).toEqual({ stored: LIMIT, workdirs: 0 });
    await service.db.query('UPDATE uploads SET expires_at = now() WHERE workspace_id = $1', [who.workspace.id]);
    await service.app.get(FileCleaner, { strict: false }).purgeUploads();
    await who.client.delete(`/v1/projects/${projectId}`);
    expect(await counted(who)).toEqual({ stored: LIMIT, workdirs: 0 });
    await service.db.query('DELETE FROM files WHERE workspace_id = $1 AND origin = $2', [who.workspace.id, 'project']);
    expect(await counted(who)).toEqual({ stored: LIMIT, workdirs: 0 });
    await who.client.delete(`/v1/tasks/${task.id}`);
    expect(await counted(who)).toEqual({ stored: 0, workdirs: 0 });
  });

  slowIt('the counter is the sum of what is there, after many things at once', async () => {
    const who = await makeMember(service, { role: 'owner' });
    const guest = await makeMember(service, { workspace: who.workspace });
    const { id: projectId } = await createProject(who);
    const shared = [randomBytes(1000), randomBytes(2000), randomBytes(3000)];
    const some = (n: number) => shared[n % 3] ?? randomBytes(1);
    const acts = Array.from({ length: 24 }, (_, n) => async () => {
      const { id: uploadId } = await upload(service, n % 2 === 0 ? guest : who, some(n));
      const file = await addProjectFile(service, who, projectId, n % 4 === 0 ? randomBytes(500 + n) : some(n + 1));
      const by = n % 2 === 0 ? guest : who;
      const work = [bash(`head -c ${1000 * (n + 1)} /dev/zero > zeros`), call('publish', { path: 'zeros' })];
      const attachments = [{ uploadId }, { uploadId }];
      const body = n % 3 === 0 ? { content: script(...work, { text: 'Done.' }) } : { content: 'Look.', attachments };
      const task = await createTask(by.client, body);
      if (n % 2 === 1) await finished(by.client, task.id);
      if (n % 4 !== 3) await by.client.delete(`/v1/tasks/${task.id}`);
      if (n % 4 !== 1) await who.client.delete(`/v1/projects/${projectId}/files/${file.id}`);
      if (n % 5 !== 1) return;
      // Its own: another act may be about to send one of the same bytes along.
      await service.db.query('UPDATE uploads SET expires_at = now() WHERE id = $1', [uploadId]);
      await service.app.get(FileCleaner, { strict: false }).purgeUploads();
    });
    await Promise.all(acts.map((act) => act()));
    await who.client.delete(`/v1/projects/${projectId}`);
    await service.app.get(UsersService).delete(guest.user.id, {});
    const idle = async () =>
      (await service.db.query(`SELECT FROM runs WHERE status IN ('queued', 'running')`)).length === 0;
    await until('all work to be done', idle, { within: 150_000 });
    const drift = await service.db.query(DRIFT);
    expect(drift).toEqual([]);
    expect((await counted(who))?.stored).toBeGreaterThan(0);
    expect((await counted(who))?.workdirs).toBeGreaterThan(0);
  });

  it('a database of before has its counters filled from its rows', async () => {
    const before = await createDatabase();
    await before.query('DROP SCHEMA public CASCADE');
    await before.query('CREATE SCHEMA public');
    const migrate = async (migrations: typeof MIGRATIONS) => {
      const source = await new DataSource({ type: 'postgres', url: before.url, migrations }).initialize();
      await source.runMigrations({ transaction: 'each' });
      await source.destroy();
    };
    await migrate(
      MIGRATIONS.slice(
        0,
        MIGRATIONS.findIndex(({ name }) => name.startsWith('StorageUsage')),
      ),
    );
    const [workspace, empty, user] = [randomUUID(), randomUUID(), randomUUID()];
    await before.query(
      `INSERT INTO workspaces (id, slug, name, plan) VALUES ($1, 'a', 'A', 'free'), ($2, 'b', 'B', 'free')`,
      [workspace, empty],
    );
    await before.query(`INSERT INTO users (id, email, name) VALUES ($1, 'a@example.test', 'A')`, [user]);
    await before.query(
      `INSERT INTO uploads (id, workspace_id, user_id, name, media_type, size, sha256, expires_at)
         SELECT gen_random_uuid(), $1, $2, 'a', 'text/plain', size, size::text, now() FROM unnest(ARRAY[10, 10, 200]) AS size`,
      [workspace, user],
    );
    await before.query(
      `INSERT INTO files (id, workspace_id, origin, name, media_type, size, sha256, created_by)
         SELECT gen_random_uuid(), $1, 'project', 'a', 'text/plain', size, size::text, $2 FROM unnest(ARRAY[10, 3000]) AS size`,
      [workspace, user],
    );
    await migrate(MIGRATIONS);
    const used = await before.query('SELECT workspace_id AS id, stored_bytes::int AS n FROM storage_usage ORDER BY n');
    expect(used).toEqual([
      { id: empty, n: 0 },
      { id: workspace, n: 3210 },
    ]);
    await before.query('DELETE FROM uploads');
    expect(await before.query(DRIFT)).toEqual([]);
    await before.query('DELETE FROM workspaces');
    expect(await before.query('SELECT FROM storage_usage')).toEqual([]);
    await before.drop();
  });

  it('the operator sees what each workspace stores, and its limit', async () => {
    const [poor, rich] = [await makeMember(service, { plan: 'free' }), await makeMember(service)];
    await upload(service, poor, randomBytes(1000));
    const operator = new Operator(service);
    const { workspaces } = await operator.json<{ workspaces: { id: string; storage: unknown }[] }>('workspace', 'list');
    const of = ({ workspace: { id } }: Member) => workspaces.find((one) => one.id === id)?.storage;
    // The command has the plans of its own configuration.
    expect([of(poor), of(rich)]).toEqual([
      { usedBytes: 1000, limitBytes: 2 ** 30 },
      { usedBytes: 0, limitBytes: null },
    ]);
    expect(await operator.run('workspace', 'list')).toMatch(/ {2}1000 bytes, of 1073741824$/m);
  });
});
