// `backup DIR`: database, stored bytes, workdirs and the generated secret, while the service runs (docs/decisions/0041).
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ClientBase } from 'pg';
import { OperatorError } from '../../access/auth/operator-error.js';
import { LOCKS } from '../../platform/database/locks.js';
import { PREVIOUS_SECRET_FILE, SECRET_FILE } from '../../platform/config/secret-file.js';
import type { FileStorage } from '../../resources/files/storage/file-storage.js';
import { machineIn } from '../../work/machines/machine-file.js';
import { connected, closeOnAbort } from './connection.js';
import { Snapshot } from './dump.js';
import { type Manifest, writeManifest } from './manifest.js';
import { inBytes } from './parts.js';
import { recordBackup } from './record.js';
import { copyFiles, nameFiles } from './stored-files.js';
import { packWorkdirs, sizeOf, tasksIn, workdirsOf } from './workdirs.js';

/** Chores that remove stored bytes, by whose locks they wait. */
export const CLEANERS = [LOCKS.unusedBytes, LOCKS.deletedStorages];

export interface Source {
  databaseUrl: string;
  /** `DATA_DIR`, absolute. */
  dataDir: string;
  storage: FileStorage;
  /** Whether the backup has the files, or names them where they are. */
  files: 'copy' | 'reference';
  /** What the manifest says of the secrets. Called when they do not change any more; rejects when they are not those of the database. */
  secret: () => Promise<Manifest['secret']>;
  /** The program's. */
  version: string;
  /** The tables that have migrations on record. */
  histories: readonly string[];
}

/**
 * Writes a backup into a folder that does not exist or is empty. What fails leaves nothing in it; what is killed leaves a folder without
 * manifest, which is no backup.
 * @param say is called with how far it is.
 * @param interrupted ends it, as a failure does.
 */
export async function backUp(
  source: Source,
  target: string,
  say: (text: string) => void,
  interrupted?: AbortSignal,
): Promise<Manifest> {
  const place = source.files === 'copy' ? null : lastingPlaceOf(source.storage);
  const folder = resolve(target);
  const client = await connected(source.databaseUrl);
  closeOnAbort(client, interrupted);
  try {
    const made = makeFolder(folder);
    try {
      say('waits for the chores that remove files, and for a change of SECRET_KEY');
      // Those of a session: they end with it, however it ends. Shared: a second backup need not wait.
      for (const lock of [...CLEANERS, LOCKS.secretKey])
        await client.query('SELECT pg_advisory_lock_shared($1)', [lock]);
      const backup = await write(client, source, folder, place, say);
      say('the manifest');
      // It also shows that the connection has lasted, and so have the locks.
      await recordBackup(client, 'backup', backup.createdAt);
      await writeManifest(folder, backup);
      return backup;
    } catch (error) {
      clear(folder, made);
      throw error;
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function write(
  client: ClientBase,
  { dataDir, storage, secret: secretOf, version, histories }: Source,
  folder: string,
  place: string | null,
  say: (text: string) => void,
): Promise<Manifest> {
  const createdAt = new Date().toISOString();
  const secret = await secretOf();
  const workdirs = workdirsOf(dataDir);
  const snapshot = await Snapshot.open(client);
  const sizes = await snapshot.sizes();
  say('measures what there is');
  await requireSpace(folder, sizes.database + (place === null ? sizes.files.bytes : 0) + (await sizeOf(workdirs)));
  const tasks = await snapshot.tasksAmong(tasksIn(workdirs).filter((name) => UUID.test(name)));
  const list = await snapshot.writeFileList(folder);
  const tables = await snapshot.writeTables(folder, say);
  const described = await snapshot.describe(histories);
  await snapshot.close();
  const all = { list, ...sizes.files };
  const files = await (place === null
    ? copyFiles(storage, folder, all, say)
    : nameFiles(storage, folder, all, place, say));
  say('workdirs');
  const archive = tasks.size === 0 ? null : await packWorkdirs(workdirs, [...tasks], folder);
  if (secret.included) {
    for (const name of secret.previous === null ? [SECRET_FILE] : [SECRET_FILE, PREVIOUS_SECRET_FILE]) {
      writeFileSync(join(folder, name), readFileSync(join(dataDir, name)), { flag: 'wx', mode: 0o600, flush: true });
    }
  }
  return { version, createdAt, ...described, tables, files, workdirs: archive, machine: machineIn(dataDir), secret };
}

function lastingPlaceOf(storage: FileStorage): string {
  const place = storage.driver.lastingPlace;
  if (place !== null) return place;
  throw new OperatorError(
    'The files of this storage go with this machine. Make a backup that has them, with --files copy.',
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether it was not there. The folder is closed to others, also one that was there: keys can be made of what lies in it. */
function makeFolder(folder: string): boolean {
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
  if (readdirSync(folder).length > 0) {
    throw new OperatorError(`${folder} is not empty. A backup is written into a folder of its own.`);
  }
  chmodSync(folder, 0o700);
  return made;
}

function clear(folder: string, made: boolean): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
  if (made) rmSync(folder, { recursive: true, force: true });
}

/** Rows shrink, so that less may do; that a backup fits is only sure with all of it. */
async function requireSpace(folder: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= needed) return;
  throw new OperatorError(
    `A backup of up to ${inBytes(needed)} does not fit into ${folder}: ${inBytes(bavail * bsize)} are free there.`,
  );
}
