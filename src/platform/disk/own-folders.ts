import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What may lie on another file system than DATA_DIR, by a mount or a link. */
const FOLDERS = ['files', 'workdirs', 'postgres'];
/** Where they lie when another user could not reach DATA_DIR (docs/operating.md). */
const LOCATIONS = ['postgres.location', 'sandbox.location'];

/** Where the embedded database of a `DATA_DIR` lies, or will: on record, else inside. */
export function databaseFolder(dataDir: string): string {
  const record = join(dataDir, 'postgres.location');
  return existsSync(record) ? readFileSync(record, 'utf8').trim() : join(dataDir, 'postgres');
}

/** All folders that the service writes to, `DATA_DIR` first; not all of them have to exist. */
export async function ownFolders(dataDir: string): Promise<string[]> {
  const recorded = LOCATIONS.map((name) => readFile(join(dataDir, name), 'utf8').catch(() => ''));
  const elsewhere = (await Promise.all(recorded)).map((text) => text.trim()).filter((text) => text !== '');
  return [dataDir, ...FOLDERS.map((name) => join(dataDir, name)), ...elsewhere];
}
