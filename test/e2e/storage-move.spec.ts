import { createHash, randomBytes } from 'node:crypto';
import { chown, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { WorkspaceRemover } from '../../src/access/workspaces/workspace-remover.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { FileStorage } from '../../src/resources/files/storage/file-storage.js';
import { snapshotsPlace } from '../../src/resources/files/storage/snapshots-place.js';
import { SnapshotStore } from '../../src/resources/snapshots/snapshot-store.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { upload } from '../harness/files.js';
import { Operator } from '../harness/operator.js';
import { type Call, S3Stand } from '../harness/s3-stand.js';
import { temporaryFolder } from '../harness/service.js';

const MIB = 1024 * 1024;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const some = (size: number) => new Uint8Array(randomBytes(size));
const parts = ({ method, query }: Call) => method === 'PUT' && query.has('partNumber');

const gets = ({ method, key }: Call) => method === 'GET' && key.includes('/files/');

describe('storage move (reference §16)', () => {
  const room = temporaryFolder();
  const DATA_DIR = join(room.path, 'data');
  let stand: S3Stand;
  let db: TestDatabase;
  let service: TestApp;

  beforeAll(async () => {
    stand = await S3Stand.start();
    db = await createDatabase();
    service = await bootApp({ env: { DATA_DIR }, db });
  });
  afterAll(async () => {
    await service.close();
    await db.drop();
    await stand.close();
    room.remove();
  });

  it('copies while the service runs, goes on where it was interrupted, and the files are there after the switch and back', async () => {
    const member = await makeMember(service);
    const all = [some(100), some(17 * MIB), some(3000)];
    for (const bytes of all) await upload(service, member, bytes);
    const bucket = { ...stand.env, DATA_DIR };
    const there = new Operator(service, { ...bucket, STORAGE: 'local' });
    const move = async () => (await there.json<{ move: object }>('storage', 'move', '--to', 's3')).move;

    stand.fault = (call) => (parts(call) ? { answer: 403, code: 'AccessDenied' } : null);
    await expect(move()).rejects.toThrow();
    stand.fault = () => null;
    const copied = 3 - (await stand.objects()).length;
    expect(copied).toBeLessThan(3);
    expect(await move()).toMatchObject({ to: 's3', copied, present: 3, lost: [] });
    const late = some(50);
    await upload(service, member, late);
    expect(await move()).toMatchObject({ copied: 1, present: 4 });

    await service.close();
    await rm(join(DATA_DIR, 'files'), { recursive: true });
    service = await bootApp({ env: bucket, db });
    const read = service.app.get(FileStorage, { strict: false });
    for (const bytes of [...all, late]) {
      const { stream } = await read.open(member.workspace.id, sha256(bytes));
      expect(sha256(await buffer(stream))).toBe(sha256(bytes));
    }
    const back = new Operator(service, bucket);
    expect(await back.run('storage', 'move', '--to', 'local')).toContain('4 files');
    await expect(back.run('storage', 'move', '--to', 's3')).rejects.toThrow('STORAGE is s3 already');
    const acts = await service.db.query(
      `SELECT target_type, target_id FROM audit_log WHERE action = 'storage.move' ORDER BY at`,
    );
    expect(acts.at(0)).toEqual({ target_type: 'storage', target_id: 's3' });
    expect(acts.at(-1)).toEqual({ target_type: 'storage', target_id: 'local' });
  });

  it('one damaged object stands in the way of no other file, of a move and of a backup, and is named', async () => {
    const member = await makeMember(service);
    const [whole, damaged] = [some(200), some(5000)];
    for (const bytes of [whole, damaged]) await upload(service, member, bytes);
    const lost = [`${member.workspace.id}/${sha256(damaged)}`];
    stand.fault = (call) => (gets(call) && call.key.endsWith(sha256(damaged)) ? { alterAnswer: true } : null);
    const operator = new Operator(service, { ...stand.env, DATA_DIR });
    const { move } = await operator.json<{ move: object }>('storage', 'move', '--to', 'local');
    expect(move).toMatchObject({ copied: 1, lost });
    const { backup } = await operator.json<{ backup: object }>('backup', join(room.path, 'backup'));
    expect(backup).toMatchObject({ files: { count: 5, lost } });
    stand.fault = () => null;
  });

  it('what was copied for a workspace that was deleted since is removed by the next call, and nothing of others', async () => {
    const [goes, stays] = [await makeMember(service), await makeMember(service)];
    const snapshots = service.app.get(SnapshotStore, { strict: false });
    for (const member of [goes, stays]) {
      await upload(service, member, some(70));
      await snapshots.of(member.workspace.id, new AbortController().signal).put(Buffer.from(some(80)), null);
    }
    const foldersOf = ({ workspace: { id } }: Member) => [id, snapshotsPlace(id)].map((place) => join(DATA_DIR, 'files', place)); // prettier-ignore
    const left = async (member: Member) =>
      (await Promise.all(foldersOf(member).map(filesIn))).map(({ length }) => length);
    const operator = new Operator(service, { ...stand.env, DATA_DIR });
    await operator.run('storage', 'move', '--to', 'local');
    await service.app.get(WorkspaceRemover).remove(goes.workspace.id);
    await service.db.query(`UPDATE folder_removals SET not_before = now() WHERE kind = 'storage'`);
    await service.app.get(FileCleaner, { strict: false }).removeStorages();
    for (const folder of [goes, stays].flatMap(foldersOf)) await age(folder);
    expect([await left(goes), await left(stays)]).toEqual([
      [1, 1],
      [1, 1],
    ]);
    await operator.run('storage', 'move', '--to', 'local');
    expect([await left(goes), await left(stays)]).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  asRoot('root copies nothing into a DATA_DIR of another user', async () => {
    const operator = new Operator(service, { ...stand.env, DATA_DIR });
    await chown(DATA_DIR, 10_001, 10_001);
    const moving = operator.run('storage', 'move', '--to', 'local');
    await expect(moving).rejects.toThrow(`DATA_DIR ${DATA_DIR} belongs to the user 10001`);
    await chown(DATA_DIR, 0, 0);
  });
});

async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function age(folder: string): Promise<void> {
  for (const path of await filesIn(folder)) await utimes(path, new Date(0), new Date(0));
}
