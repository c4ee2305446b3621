// The verbs `backup` and `restore` (reference §16). They look after the database themselves: a backup must not migrate what it is to
// keep, and a restore begins where there is none.
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { OperatorError } from '../../access/auth/operator-error.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { type Env, readEnv } from '../../platform/config/env.js';
import { Sealing } from '../../platform/config/sealing.js';
import { secretsIn } from '../../platform/config/secret-file.js';
import { markOf, Secrets } from '../../platform/config/secrets.js';
import type { Prepare, Recognise } from '../../platform/database/database.module.js';
import { DatabaseServer } from '../../platform/database/database-server.js';
import { Transactions } from '../../platform/database/transactions.js';
import { DiskModule } from '../../platform/disk/disk.module.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { Installation } from '../../platform/installation/installation.js';
import { FileStorage } from '../../resources/files/storage/file-storage.js';
import { LocalStorage } from '../../resources/files/storage/local/local-storage.js';
import { S3Storage } from '../../resources/files/storage/s3/s3-storage.js';
import { backUp } from '../backup/backup.js';
import type { Manifest } from '../backup/manifest.js';
import { inBytes } from '../backup/parts.js';
import { historiesOf } from '../migrations/index.js';
import { valuesUnderKeys } from '../secret-key/sealed-values.js';
import { checkBackup, NewDataDir, prepareDatabase, restoreAll, secretOf } from '../backup/restore.js';
import { addVerb } from './command.js';
import { composeCli } from './compose-cli.js';
import { interruptible } from './interruption.js';
import { Progress } from './progress.js';
import { requireInstallation, type Services, withOpen } from './verb.js';

interface Context {
  env: Env;
  extensions: ExtensionSet;
  folder: string;
  version: string;
  /** Of a backup. */
  files: 'copy' | 'reference';
  /** Says how far it is. It throws once the command is interrupted: that is where long work ends. */
  say: (text: string) => void;
  interrupted: AbortSignal;
}

/** Adds the verbs. */
export function backup(root: Command, extensions: ExtensionSet, version: string): void {
  const made = verb(
    'backup <dir>',
    'writes database, files, workdirs and the generated secret into a new folder',
    makeBackup,
  );
  made.addOption(
    new Option('--files <how>', 'copies files, or only names those that are in a bucket')
      .choices(['copy', 'reference'])
      .default('copy'),
  );
  verb('restore <dir>', 'puts a backup into an empty database and an empty DATA_DIR', restore);

  function verb(usage: string, description: string, act: (context: Context) => Promise<Manifest>): Command {
    const command = addVerb(root, usage).description(description).example('/backups/today');
    return command.action(async (dir: string) => {
      if (dir === '') throw new OperatorError('The name of a folder is expected.');
      const progress = new Progress();
      const env = readEnv(undefined, extensions);
      const folder = resolve(dir);
      const { json, files = 'copy' } = command.optsWithGlobals<{ json?: true; files?: Context['files'] }>();
      const done = await interruptible((interrupted) => {
        const say = (text: string) => {
          interrupted.throwIfAborted();
          progress.say(text);
        };
        return act({ env, extensions, folder, version, files, say, interrupted });
      }).finally(() => progress.end());
      const answer = summary(folder, done);
      console.log(json === true ? JSON.stringify({ backup: answer }) : inSentences(answer));
    });
  }
}

const isInside = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

async function makeBackup(context: Context): Promise<Manifest> {
  const { env, extensions, folder, version, say, interrupted } = context;
  requireInstallation(env);
  const { DATA_DIR = '.data' } = env.variables;
  if (isInside(folder, resolve(DATA_DIR))) {
    throw new OperatorError(`${folder} lies in DATA_DIR. A backup is written outside of what it keeps.`);
  }
  // No migrations: a backup is what somebody makes before an update.
  const prepare = () => Promise.resolve();
  // With another DATA_DIR every file would count as lost, and no workdir were there.
  const recognise: Recognise = (installation) => installation.compare({ withFolder: true });
  return withFiles(context, { prepare, recognise }, (services) => {
    const source = {
      databaseUrl: services.get(DatabaseServer).url,
      dataDir: services.get(DataDir).path,
      storage: storageOf(services),
      files: context.files,
      secret: () => secretsOf(services),
      version,
      histories: historiesOf(extensions).map(({ table }) => table),
    };
    return backUp(source, folder, say, interrupted);
  });
}

/** After a change of SECRET_KEY that this process was started before, the secrets are others. */
async function secretsOf(services: Services): Promise<Manifest['secret']> {
  const [secrets, sealing] = [services.get(Secrets), services.get(Sealing)];
  secrets.refresh();
  await services.get(Installation).compare({ withFolder: true });
  const strangers = (await valuesUnderKeys(services.get(Transactions), sealing)).filter(({ key, secret }) => {
    return key !== null && secret === 'unknown';
  });
  if (strangers.length > 0) {
    throw new OperatorError(
      `SECRET_KEY is being changed, and ${strangers.map(({ column }) => column).join(', ')} has values under a key that is not known here. Set SECRET_KEY and SECRET_KEY_PREVIOUS as the other processes have them.`,
    );
  }
  const { mark, previous, folder } = secrets;
  if (folder === null) return { mark, previous: previous?.mark ?? null, included: false };
  // The files go along: a former one that is gone is needed by nothing.
  const former = secretsIn(folder)?.previous ?? null;
  return { mark, previous: former === null ? null : markOf(former), included: true };
}

async function restore(context: Context): Promise<Manifest> {
  const { env, extensions, folder, version, say, interrupted } = context;
  const { DATA_DIR, SECRET_KEY, SECRET_KEY_PREVIOUS } = env.variables;
  if (DATA_DIR === undefined && env.test) throw new OperatorError('DATA_DIR must be set.');
  const program = { version, histories: historiesOf(extensions) };
  const backup = await checkBackup(folder, program, say);
  const secret = secretOf(folder, backup, { current: SECRET_KEY, previous: SECRET_KEY_PREVIOUS });
  const dataDir = new NewDataDir(DATA_DIR ?? '.data');
  try {
    // Before anything asks for it: it would be generated anew.
    if (secret !== null) dataDir.putSecret(secret);
    const prepare: Prepare = (dataSource) => prepareDatabase(dataSource, backup, program);
    // The database is nobody's yet, and its secret is that of the backup.
    const recognise: Recognise = () => Promise.resolve();
    await withFiles(context, { prepare, recognise }, (services) => {
      const { url: databaseUrl } = services.get(DatabaseServer);
      const target = { databaseUrl, storage: storageOf(services), dataDir, histories: program.histories };
      return restoreAll(folder, backup, target, say, interrupted);
    });
    return backup;
  } catch (error) {
    await dataDir.clear();
    throw error;
  }
}

/** Does something with the services and the storage. When that is interrupted, it has taken back what it began before this rejects. */
function withFiles<T>(
  { env, extensions, interrupted }: Context,
  beginning: { prepare: Prepare; recognise: Recognise },
  act: (services: Services) => Promise<T>,
): Promise<T> {
  const { imports, providers } = composeCli(env, extensions, beginning);
  const files = { imports: [...imports, DiskModule], providers: [...providers, FileStorage, LocalStorage, S3Storage] };
  return withOpen(files, act, interrupted);
}

const storageOf = (services: Services) => services.get(FileStorage, { strict: false });

function summary(folder: string, { createdAt, version, tables, files, workdirs }: Manifest) {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const database = { tables: tables.length, rows, bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0) };
  const { count, bytes, lost, place } = files;
  const archive = { workdirsBytes: workdirs?.bytes ?? 0, workdirsOmitted: workdirs?.omitted ?? 0 };
  return { folder, createdAt, version, database, files: { count, bytes, lost, place }, ...archive };
}

function inSentences({
  folder,
  createdAt,
  version,
  database,
  files,
  workdirsBytes,
  workdirsOmitted,
}: ReturnType<typeof summary>): string {
  const lines = [
    `The backup in ${folder}, of ${createdAt}, by Millwright ${version}:`,
    `${database.rows} rows of ${database.tables} tables, ${inBytes(database.bytes)}`,
    `${files.count} files, ${inBytes(files.bytes)}${files.place === null ? '' : `, named where they are: ${files.place}`}`,
    `workdirs, ${inBytes(workdirsBytes)}`,
  ];
  if (files.lost.length > 0) lines.push(`! The storage had lost or damaged: ${files.lost.join(', ')}`);
  if (workdirsOmitted > 0) {
    lines.push(`! ${workdirsOmitted} paths of workdirs, longer than 4,095 bytes, were left out`);
  }
  return lines.join('\n');
}
