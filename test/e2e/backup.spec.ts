import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ChoreRunner } from 'millwright';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { FileStorage } from '../../src/resources/files/storage/file-storage.js';
import { backUp } from '../../src/operator/backup/backup.js';
import { GAMES, NEWER_GAMES, playedBy } from '../extensions/games.js';
import { bootApp, type TestApp, useService } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { createDatabase } from '../harness/database.js';
import { query } from '../harness/embedded.js';
import { upload } from '../harness/files.js';
import { emptyDatabase, FAILS_AT_THE_END, type NewDatabase, structureOf } from '../harness/new-database.js';
import { Operator } from '../harness/operator.js';
import { temporaryFolder } from '../harness/service.js';

const SECRET = 'a secret of the tests, at least 32 bytes long';

interface Answer {
  backup: { folder: string; database: { rows: number }; files: { count: number; lost: string[] } };
}

describe('backup and restore (reference §16)', () => {
  const service = useService(() => bootApp({ extensions: [GAMES] }));
  const room = temporaryFolder();
  const path = (name = randomBytes(4).toString('hex')) => join(room.path, name);
  let member: Member;
  const keyed = { headers: { 'Idempotency-Key': 'once' } };
  let first: { text: string; taskId: string; fileId: string };
  const bytes = randomBytes(200_000);

  const dataDirOf = (app: TestApp) => app.app.get(DataDir).path;
  const operator = (url: string, dataDir: string, extensions = [GAMES], more: Record<string, string> = {}) =>
    new Operator({ db: { url } }, { DATA_DIR: dataDir, ...more }, extensions);
  const original = () => operator(service.db.url, dataDirOf(service));
  const backup = async () => (await original().json<Answer>('backup', path())).backup;

  beforeAll(async () => {
    member = await makeMember(service);
    const sent = await upload(service, member, bytes);
    const body = { content: 'Look at this.', attachments: [{ uploadId: sent.id }] };
    const made = await member.client.post<{ task: { id: string } }>('/v1/tasks', body, keyed);
    const { id: taskId } = made.body.task;
    const listed = await member.client.get<{ files: { id: string }[] }>(`/v1/tasks/${taskId}/files`);
    first = { text: made.text, taskId, fileId: listed.body.files[0]?.id ?? '' };
    await upload(service, member, 'waits for its task');
    await original().run('integration', 'connect', 'github', '--workspace', member.workspace.slug);
    await service.db.query(playedBy(member.user.id));
  });
  afterAll(() => room.remove());

  it('is closed to others', async () => {
    const { folder } = await backup();
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const modes = entries.map((one) => [one.isDirectory(), statSync(join(one.parentPath, one.name)).mode & 0o777]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(modes.filter(([isFolder, mode]) => mode !== (isFolder ? 0o700 : 0o600))).toEqual([]);
    expect(readdirSync(folder).sort()).toEqual(['files', 'files.gz', 'manifest.json', 'tables']);
    expect(readFileSync(join(folder, 'manifest.json'), 'utf8')).not.toContain(SECRET);
  });

  it('makes of an empty database, as its owner who is no superuser, the one that it was', async () => {
    const { folder, files } = await backup();
    expect(files).toMatchObject({ count: 2, lost: [] });
    const target = await emptyDatabase();
    const dataDir = path();
    await operator(target.url, dataDir).run('restore', folder);

    // A chore seals the audit log meanwhile; backup-audit.spec.ts is about that.
    const seal = (table: string) => (table.startsWith('audit_log') ? `- '{seq,hash}'::text[]` : '');
    const rows = (db: { query: typeof service.db.query }, table: string) =>
      db.query<{ row: { action?: string } }>(`SELECT to_jsonb(t) ${seal(table)} AS row FROM ${table} t ORDER BY 1`);
    const tables = await service.db.query<{ name: string }>(
      `SELECT c.oid::regclass::text AS name FROM pg_class c WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace`,
    );
    expect(tables.length).toBeGreaterThan(25);
    for (const { name } of tables.filter((one) => !['migrations', 'audit_chains'].includes(one.name))) {
      // The one is on record where the backup was made, the other where it was restored.
      const same = ({ row }: { row: { action?: string } }) => row.action !== 'backup' && row.action !== 'restore';
      const [there, here] = [await rows(target, name), await rows(service.db, name)];
      expect([name, there.filter(same)]).toEqual([name, here.filter(same)]);
    }
    expect(await structureOf(target)).toEqual(await structureOf(service.db));
    const numbers = `SELECT nextval('rounds_id_seq')::int AS n`;
    expect(await target.query(numbers)).toEqual([{ n: 42 }]);

    const copy = await bootApp({ extensions: [GAMES], db: target, env: { DATA_DIR: dataDir } });
    try {
      const client = new Client(copy.url, member.key.secret);
      const replayed = await client.post('/v1/tasks', { content: 'another' }, keyed);
      expect(replayed.body).toMatchObject({ error: { code: 'idempotency_key_reused' } });
      const auth = { headers: { Authorization: `Bearer ${member.key.secret}` } };
      const content = await fetch(`${copy.url}/v1/files/${first.fileId}/content`, auth);
      expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
      const words = ['integration', 'list', '--workspace', member.workspace.slug];
      expect(await operator(target.url, dataDir).run(...words)).toContain('github');
    } finally {
      await copy.close();
      await target.drop();
    }
  });

  it('holds the tables of the program that made it; a newer program brings them up to date', async () => {
    const { folder } = await backup();
    const target = await emptyDatabase();
    const dataDir = path();
    const newer = operator(target.url, dataDir, [NEWER_GAMES]);
    await newer.run('restore', folder);
    await newer.run('workspace', 'list');
    expect(await target.query(`SELECT mark FROM rounds`)).toEqual([{ mark: 'of tab\there, \\N and\nnew line' }]);
    await target.drop();
  });

  it('names the bytes that the storage has lost, and keeps all else', async () => {
    const lonely = await makeMember(service);
    const lost = await upload(service, lonely, 'gone from the disk');
    const [row] = await service.db.query<{ sha256: string }>('SELECT sha256 FROM uploads WHERE id = $1', [lost.id]);
    const stored = `${lonely.workspace.id}/${row?.sha256 ?? ''}`;
    rmSync(join(dataDirOf(service), 'files', lonely.workspace.id), { recursive: true });
    const { folder, files } = await backup();
    expect(files.lost).toEqual([stored]);
    const target = await emptyDatabase();
    expect(await operator(target.url, path()).run('restore', folder)).toContain(
      `! The storage had lost or damaged: ${stored}`,
    );
    await target.drop();
    await service.db.query('DELETE FROM uploads WHERE id = $1', [lost.id]);
  });

  it('refuses what it does not know how to keep, by name, and leaves nothing', async () => {
    await service.db.query('CREATE MATERIALIZED VIEW figures AS SELECT 1 AS n; SELECT lo_create(4711)');
    const folder = path();
    await expect(original().run('backup', folder)).rejects.toThrow(
      'The database holds what a backup does not know how to keep: large object 4711, materialized view public.figures.',
    );
    expect(existsSync(folder)).toBe(false);
    await service.db.query('DROP MATERIALIZED VIEW figures; SELECT lo_unlink(4711)');
    mkdirSync(join(folder, 'mine'), { recursive: true });
    await expect(original().run('backup', folder)).rejects.toThrow(`${folder} is not empty.`);
    expect(readdirSync(folder)).toEqual(['mine']);
  });

  describe('of which something is wrong', () => {
    let whole: string;
    let target: NewDatabase;
    beforeAll(async () => {
      whole = (await backup()).folder;
      target = await emptyDatabase();
    });
    afterAll(() => target.drop());

    const edit = (name: string, change: (text: string) => string) => (folder: string) =>
      writeFileSync(join(folder, name), change(readFileSync(join(folder, name), 'utf8')));
    const tasksFile = (folder: string) =>
      join(folder, 'tables', readdirSync(join(folder, 'tables')).find((name) => name.endsWith('-tasks.gz')) ?? '');
    const changeByte = (file: string) => {
      const content = readFileSync(file);
      content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 1;
      writeFileSync(file, content);
    };
    const storedIn = (folder: string) => {
      const found = readdirSync(join(folder, 'files'), { recursive: true, withFileTypes: true });
      const file = found.find((one) => one.isFile());
      return join(file?.parentPath ?? '', file?.name ?? '');
    };

    it.each<[string, (folder: string) => void, RegExp]>([
      [
        'a missing manifest',
        (folder) => rmSync(join(folder, 'manifest.json')),
        /holds no finished backup: there is no manifest.json/,
      ],
      [
        'a changed manifest',
        edit('manifest.json', (text) => text.replace('"rows": 1,', '"rows": 2,')),
        /damaged: .*manifest.json/,
      ],
      ['half a manifest', (folder) => truncateSync(join(folder, 'manifest.json'), 500), /damaged: .*manifest.json/],
      [
        'a newer format',
        edit('manifest.json', (text) => text.replace('"format": 1', '"format": 3')),
        /format 3, of a newer program/,
      ],
      [
        'a cut table',
        (folder) => truncateSync(tasksFile(folder), 100),
        /not whole: tables\/.*-tasks.gz has 100 bytes where/,
      ],
      [
        'a changed byte of a table',
        (folder) => changeByte(tasksFile(folder)),
        /damaged: tables\/.*-tasks.gz is not what was written/,
      ],
      ['a table that is gone', (folder) => rmSync(tasksFile(folder)), /not whole: tables\/.*-tasks.gz cannot be read/],
      [
        'a changed byte of a file',
        (folder) => changeByte(storedIn(folder)),
        /damaged: files\/.* is not what was written/,
      ],
      ['a file that has grown', (folder) => appendFileSync(storedIn(folder), 'x'), /not whole: files\/.* bytes where/],
      ['a file that is gone', (folder) => rmSync(storedIn(folder)), /not whole: files\/.* cannot be read/],
    ])('is refused, and nothing is touched: %s', async (_what, spoil, message) => {
      const [folder, dataDir] = [path(), path()];
      cpSync(whole, folder, { recursive: true });
      spoil(folder);
      await expect(operator(target.url, dataDir).run('restore', folder)).rejects.toThrow(message);
      expect(await structureOf(target)).toEqual([]);
      expect(existsSync(dataDir)).toBe(false);
    });
  });

  it('is refused, and nothing is touched, where it does not fit', async () => {
    const { folder } = await backup();
    const target = await emptyDatabase();
    const dataDir = path();
    const refused = (given: Operator, message: string | RegExp) =>
      expect(given.run('restore', folder)).rejects.toThrow(message);
    await refused(
      operator(target.url, dataDir, []),
      /with the migration Rounds1795900000001 \(migrations_games\), which this program, .*, does not know/,
    );
    const other = { SECRET_KEY: 'another secret of the tests, also 32 bytes long' };
    await refused(
      operator(target.url, dataDir, [GAMES], other),
      'SECRET_KEY is not the secret that the backup was made with.',
    );
    expect(existsSync(dataDir)).toBe(false);
    const full = path();
    mkdirSync(join(full, 'mine'), { recursive: true });
    await refused(operator(target.url, full), `DATA_DIR ${full} is not empty.`);
    expect(readdirSync(full)).toEqual(['mine']);
    expect(await structureOf(target)).toEqual([]);

    const used = await createDatabase();
    await used.query(`INSERT INTO users (id, email, name) VALUES ('${member.user.id}', 'a@b.test', 'A')`);
    const before = await structureOf(used);
    await refused(operator(used.url, dataDir), 'The database is not empty: public.users has rows.');
    expect(await used.query('SELECT email FROM users')).toEqual([{ email: 'a@b.test' }]);
    expect(await structureOf(used)).toEqual(before);
    expect(existsSync(dataDir)).toBe(false);
    await Promise.all([used.drop(), target.drop()]);
  });

  it('that cannot be loaded leaves an empty database and no files, and can be restored later', async () => {
    const { folder } = await backup();
    const target = await emptyDatabase();
    const dataDir = path();
    await query(target.adminUrl, FAILS_AT_THE_END);
    await expect(operator(target.url, dataDir).run('restore', folder)).rejects.toThrow('no space left');
    expect(existsSync(dataDir)).toBe(false);
    expect(await target.query('SELECT 1 FROM workspaces UNION ALL SELECT 1 FROM tasks')).toEqual([]);
    await query(target.adminUrl, 'DROP EVENT TRIGGER broken; DROP FUNCTION broken');
    await operator(target.url, dataDir).run('restore', folder);
    expect(await target.query('SELECT id FROM tasks')).toEqual([{ id: first.taskId }]);
    await target.drop();
  });

  it('keeps the chores waiting that remove files, until it has them all', async () => {
    const storage = service.app.get(FileStorage, { strict: false });
    const cleaner = service.app.get(FileCleaner, { strict: false });
    const chores = service.app.get(ChoreRunner, { strict: false });
    const seen: unknown[] = [];
    const watched = {
      open: async (workspaceId: string, sha256: string) => {
        seen.push(await chores.run(cleaner, 'sweep'), await chores.run(cleaner, 'removeStorages'));
        return storage.open(workspaceId, sha256);
      },
    };
    const source = {
      databaseUrl: service.db.url,
      dataDir: dataDirOf(service),
      storage: watched as FileStorage,
      files: 'copy' as const,
      secret: () => Promise.resolve({ mark: '', previous: null, included: false }),
      version: '1',
      histories: ['migrations'],
    };
    await backUp(source, path(), () => undefined);
    expect([...new Set(seen)]).toEqual([null]);
    expect([await chores.run(cleaner, 'sweep'), await chores.run(cleaner, 'removeStorages')]).toEqual([0, 0]);
  });
});
