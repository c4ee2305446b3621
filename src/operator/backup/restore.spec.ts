import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Manifest, readManifest, writeManifest } from './manifest.js';
import { NewDataDir } from './restore.js';

const room = mkdtempSync(join(tmpdir(), 'millwright-restore-'));
afterAll(() => rmSync(room, { recursive: true }));
const path = () => mkdtempSync(join(room, 'one-'));

const part = { file: 'files.gz', bytes: 0, sha256: '' };
const BOUND = `FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00')`;
const TRIGGER = `CREATE TRIGGER keep BEFORE TRUNCATE ON public.month FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_table()`;

describe('A manifest (reference §16)', () => {
  const read = async (change: { bound?: string; triggers?: string[]; file?: string }) => {
    const folder = path();
    const { file = part.file, bound = BOUND, triggers = [TRIGGER] } = change;
    const one = { schema: 'public', name: 'month', parent: { schema: 'public', name: 'log' }, bound, triggers };
    const backup: Manifest = {
      version: '1', createdAt: new Date().toISOString(), postgres: '18', histories: [], tables: [], partitions: [one], sequences: [],
      files: { list: { ...part, file }, count: 0, bytes: 0, lost: [], place: null }, workdirs: null, machine: null, secret: { mark: '', previous: null, included: false },
    }; // prettier-ignore
    await writeManifest(folder, backup);
    return (await readManifest(folder)).partitions;
  };

  it.each([
    BOUND,
    'DEFAULT',
    'FOR VALUES FROM (MINVALUE) TO (12.5)',
    'FOR VALUES WITH (modulus 4, remainder 0)',
    `FOR VALUES IN ('it''s', NULL, true, 7)`,
  ])('brings a partition with the bound %s', async (bound) => {
    expect(await read({ bound })).toMatchObject([{ bound, triggers: [TRIGGER] }]);
  });

  it.each([
    ['a second statement behind a bound', { bound: `DEFAULT; CREATE TABLE taken ()` }],
    ['a call in a bound', { bound: `FOR VALUES FROM (pg_read_file('/etc/passwd')) TO (MAXVALUE)` }],
    ['a cast in a bound', { bound: `FOR VALUES FROM ('x'::regclass) TO (MAXVALUE)` }],
    ['another statement in place of a trigger', { triggers: ['DROP TABLE tasks'] }],
    ['a second statement behind a trigger', { triggers: [`${TRIGGER}; COPY tasks TO PROGRAM 'id'`] }],
    ['a call in the condition of a trigger', { triggers: [TRIGGER.replace('EXECUTE', `WHEN (f()) EXECUTE`)] }],
    ['a file outside of the folder', { file: '../../etc/passwd' }],
  ])('of somebody else, whose SHA-256 fits, is refused for %s', async (_what, change) => {
    await expect(read(change)).rejects.toThrow('The backup is damaged');
  });
});

describe('A restore (reference §16)', () => {
  it('takes DATA_DIR for itself: a second one is refused, and does not clear away the files of the first', async () => {
    const dataDir = join(path(), 'data');
    const first = new NewDataDir(dataDir);
    expect(() => new NewDataDir(dataDir)).toThrow('is not empty. Nothing was changed.');
    first.putSecret({ current: 'of the tests', previous: null });
    expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
    first.keep();
    await first.clear();
    expect(readdirSync(dataDir)).toEqual(['secret.key']);
  });

  it('that fails leaves DATA_DIR as it was', async () => {
    const there = path();
    const absent = join(there, 'data');
    await new NewDataDir(absent).clear();
    expect(existsSync(absent)).toBe(false);
    await new NewDataDir(there).clear();
    expect(readdirSync(there)).toEqual([]);
  });
});
