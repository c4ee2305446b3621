// `restore DIR`: a backup into an empty database and an empty DATA_DIR (docs/decisions/0041). First all of it is checked, then it is
// written, the rows last: until their commit the database is empty.
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import { OperatorError } from '../../access/auth/operator-error.js';
import { PREVIOUS_SECRET_FILE, SECRET_FILE, type SecretPair, secretsIn } from '../../platform/config/secret-file.js';
import { markOf } from '../../platform/config/secrets.js';
import { migrate, type MigrationSet } from '../../platform/database/migrate.js';
import { makeMark } from '../../platform/installation/installation-file.js';
import type { FileStorage } from '../../resources/files/storage/file-storage.js';
import { makeMachine } from '../../work/machines/machine-file.js';
import { filledOf, tablesOf } from './catalog.js';
import { connected, closeOnAbort } from './connection.js';
import { historiesOf } from './dump.js';
import { Loader, notEmpty } from './load.js';
import { type Manifest, readManifest } from './manifest.js';
import { checkPart } from './parts.js';
import { checkFiles, putFiles, requireFiles } from './stored-files.js';
import { unpackWorkdirs } from './workdirs.js';

type Say = (text: string) => void;

/** The program that restores. */
export interface Program {
  version: string;
  /** Its migrations: the service's and those of its extensions. */
  histories: readonly MigrationSet[];
}

/** Reads a whole backup and finds it as it was written, and fit for this program. Throws {@link OperatorError}; changes nothing. */
export async function checkBackup(folder: string, program: Program, say: Say): Promise<Manifest> {
  const backup = await readManifest(folder);
  requireKnown(backup, program);
  for (const part of [...backup.tables, backup.files.list, ...(backup.workdirs === null ? [] : [backup.workdirs])]) {
    say(`checks ${part.file}`);
    await checkPart(folder, part);
  }
  await checkFiles(folder, backup.files, say);
  return backup;
}

function requireKnown({ histories, version }: Manifest, program: Program): void {
  for (const { table, migrations } of histories) {
    const known = namesOf(program.histories.find((one) => one.table === table));
    const unknown = migrations.find((name) => !known.includes(name));
    if (unknown === undefined) continue;
    throw new OperatorError(
      `The backup was made by Millwright ${version} with the migration ${unknown} (${table}), which this program, ${program.version}, does not know. Restore it with that version or a newer one, and with its extensions.`,
    );
  }
}

/**
 * The secrets that the restored installation will have: two, when SECRET_KEY was being changed. Throws {@link OperatorError} when they are
 * not those of the backup: no key would be accepted, and nothing that was encrypted could be read.
 * @param given SECRET_KEY and SECRET_KEY_PREVIOUS, if they are set.
 * @returns what has to be written into DATA_DIR; null when SECRET_KEY is set.
 */
export function secretOf(
  folder: string,
  { secret }: Manifest,
  given: { [name in keyof SecretPair]?: string | undefined },
): SecretPair | null {
  const file = join(folder, SECRET_FILE);
  const differs = (one: string | null | undefined, mark: string | null) => mark !== null && (one == null || markOf(one) !== mark); // prettier-ignore
  if (given.current !== undefined) {
    const where = secret.included ? ` It is in ${file}.` : '';
    if (differs(given.current, secret.mark)) {
      throw new OperatorError(`SECRET_KEY is not the secret that the backup was made with.${where}`);
    }
    if (!differs(given.previous, secret.previous)) return null;
    throw new OperatorError('SECRET_KEY was being changed when the backup was made: set SECRET_KEY_PREVIOUS to the secret before.'); // prettier-ignore
  }
  if (!secret.included) throw new OperatorError('SECRET_KEY must be set to the secret that the backup was made with.');
  const found = secretsIn(folder);
  if (found === null || differs(found.current, secret.mark) || differs(found.previous, secret.previous)) {
    throw new OperatorError(`The backup is damaged: ${file} is not the secret that it was made with.`);
  }
  return found;
}

/** It is in `DATA_DIR` while a restore is under way, and after one that was killed. */
const UNFINISHED = 'restore.unfinished';

/** A `DATA_DIR` that was empty or not there, with what has been put there. */
export class NewDataDir {
  private readonly path: string;
  private readonly existed: boolean;
  private readonly undo: (() => Promise<void>)[] = [];
  private kept = false;

  /**
   * Takes it for this restore. Throws {@link OperatorError} when there is something in it: another restore, too, which would lose its
   * files when this one fails and clears up.
   */
  constructor(path: string) {
    this.path = resolve(path);
    this.existed = existsSync(this.path);
    if (this.existed && (!statSync(this.path).isDirectory() || readdirSync(this.path).length > 0)) {
      throw new OperatorError(`DATA_DIR ${this.path} is not empty. Nothing was changed. Set DATA_DIR to a new folder.`);
    }
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.path, UNFINISHED), '', { flag: 'wx', mode: 0o600 });
  }

  putSecret({ current, previous }: SecretPair): void {
    const put = (name: string, secret: string) =>
      writeFileSync(join(this.path, name), secret, { mode: 0o600, flush: true });
    put(SECRET_FILE, current);
    if (previous !== null) put(PREVIOUS_SECRET_FILE, previous);
  }

  /** The one of a new installation. */
  putMark(): string {
    return makeMark(this.path);
  }

  async putWorkdirs(folder: string, { workdirs, machine }: Manifest): Promise<void> {
    if (workdirs === null) return;
    this.undo.push(await unpackWorkdirs(this.path, folder, workdirs));
    // The rows say which machine has the folder of a task.
    if (machine !== null) makeMachine(this.path, machine);
  }

  /** From here on the rows are there, and what they point at stays whatever happens. */
  keep(): void {
    this.kept = true;
    rmSync(join(this.path, UNFINISHED), { force: true });
  }

  /** Takes away what the restore has put there, when it has failed. */
  async clear(): Promise<void> {
    if (this.kept) return;
    for (const undo of this.undo) await undo();
    if (!existsSync(this.path)) return;
    for (const name of readdirSync(this.path)) rmSync(join(this.path, name), { recursive: true, force: true });
    if (!this.existed) rmSync(this.path, { recursive: true, force: true });
  }
}

/**
 * Makes the tables that the database of the backup had: what has been added to the program since comes with the next boot, as after any
 * update. Rejects with {@link OperatorError} when the database is not empty.
 */
export async function prepareDatabase(dataSource: DataSource, backup: Manifest, program: Program): Promise<void> {
  const client = await connected((dataSource.options as { url: string }).url);
  const histories = program.histories.map(({ table }) => table);
  try {
    const tables = (await tablesOf(client)).filter(({ name }) => !histories.includes(name));
    const filled = await filledOf(client, tables);
    if (filled !== undefined) throw notEmpty(filled);
    for (const { table, migrations } of await historiesOf(client, histories)) {
      const wanted = backup.histories.find((one) => one.table === table)?.migrations ?? [];
      if (migrations.every((name) => wanted.includes(name))) continue;
      throw new OperatorError(
        'The database has no rows, but tables of a newer program than the backup. Give it one without tables.',
      );
    }
  } finally {
    await client.end();
  }
  const sets = backup.histories.flatMap(({ table, migrations }) => {
    const known = program.histories.find((one) => one.table === table)?.migrations ?? [];
    return { table, migrations: known.filter(({ name }) => migrations.includes(name)) };
  });
  await migrate(dataSource, sets);
}

/** Writes the files, or looks whether those that the backup only names are there; then the rows. */
export async function restoreAll(
  folder: string,
  backup: Manifest,
  target: { databaseUrl: string; storage: FileStorage; dataDir: NewDataDir; histories: readonly MigrationSet[] },
  say: Say,
  interrupted: AbortSignal,
): Promise<void> {
  const { databaseUrl, storage, dataDir, histories } = target;
  await (backup.files.place === null ? putFiles : requireFiles)(storage, folder, backup.files, say);
  say('workdirs');
  await dataDir.putWorkdirs(folder, backup);
  const client = await connected(databaseUrl);
  const finish = closeOnAbort(client, interrupted);
  try {
    const loader = new Loader(
      client,
      histories.map(({ table }) => table),
    );
    await loader.load(folder, backup, dataDir.putMark(), say);
    say('commit');
    // When a connection closes during the commit, nobody knows whether the rows are there.
    finish();
    await loader.commit();
    dataDir.keep();
  } finally {
    await client.end().catch(() => undefined);
  }
}

const namesOf = (set: MigrationSet | undefined): string[] => (set?.migrations ?? []).map(({ name }) => name);
