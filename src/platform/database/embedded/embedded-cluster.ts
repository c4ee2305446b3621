// The data folder: where it lies, whose it is, and how it comes to be.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { writeWhole } from '../../config/whole-files.js';
import { canWalk, makeReachable, reachableFolder } from '../../config/reachable.js';
import { databaseFolder } from '../../disk/own-folders.js';
import { type Account, databaseAccount, finish, spawnAs } from './embedded-account.js';

/** Name of the database in the embedded server. */
export const DATABASE = 'millwright';

export interface Cluster {
  /** Holds `data`, PostgreSQL's own folder, and belongs to the account. */
  folder: string;
  /** Where other files for the account may lie. */
  reachable: string;
  account: Account | null;
}

interface Preparation {
  dataDir: string;
  native: string;
  lock: number;
  durable: boolean;
}

/** Whether a service has been started on this `DATA_DIR`, or has a database there. Looks, and makes nothing. */
export function isInstallation(dataDir: string): boolean {
  const marks = ['service.lock', 'postgres.location'];
  return isComplete(join(dataDir, 'postgres')) || marks.some((name) => existsSync(join(dataDir, name)));
}

/** Whether the database of this `DATA_DIR` has been made. Looks, and makes nothing. */
export function hasDatabase(dataDir: string): boolean {
  return isComplete(databaseFolder(dataDir));
}

/** Where the database of a `DATA_DIR` is or will be. Throws rather than begin an empty one beside an existing one. */
export function locateCluster(dataDir: string): Cluster {
  const inside = join(dataDir, 'postgres');
  const record = join(dataDir, 'postgres.location');
  const recorded = existsSync(record) ? readFileSync(record, 'utf8').trim() : null;
  if (recorded !== null && !isComplete(recorded)) {
    throw new Error(
      `The database of DATA_DIR ${dataDir} lies in ${recorded} (so says ${record}), where there is none. ` +
        'Bring that folder back, or delete that file to begin with an empty database.',
    );
  }
  const existing = recorded ?? (isComplete(inside) ? inside : null);
  const account = databaseAccount(existing ?? dataDir);
  const reachable = reachableFolder(dataDir, account?.uid ?? null);
  if (existing && account && !canWalk(dirname(existing), account.uid, account.gid)) {
    throw new Error(
      `The database in ${existing} cannot be opened: the user "${account.name}" that runs it cannot pass through the ` +
        `folders above it. Allow that (chmod o+x on each of them) or move DATA_DIR.`,
    );
  }
  if (reachable !== dataDir) makeReachable(reachable);
  return { folder: existing ?? join(reachable, 'postgres'), reachable, account };
}

/**
 * Makes the folders, and on the first boot the database. Needs the lock of the server, and hands it to every child, so
 * that it is held to the end of an `initdb` whose parent was killed.
 */
export async function prepareCluster(
  cluster: Cluster,
  options: Preparation,
): Promise<{ password: string; created: boolean; setAside: string | null }> {
  const { folder, account } = cluster;
  const setAside = setAsideForgotten(folder, options.dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  if (account && statSync(folder).uid !== account.uid) giveTo(folder, account);
  const created = !isComplete(folder);
  const password = readPassword(options.dataDir, created);
  if (created) await createCluster(cluster, password, options);
  else dropStalePid(join(folder, 'data'));
  const record = join(options.dataDir, 'postgres.location');
  if (dirname(folder) !== options.dataDir && !existsSync(record)) writeWhole(record, `${folder}\n`);
  return { password, created, setAside };
}

/**
 * A database outside of a `DATA_DIR` that knows nothing of it, neither its place nor its password, belonged to a folder
 * of this name that was deleted: it cannot be opened any more. It is kept under another name, which is returned.
 */
function setAsideForgotten(folder: string, dataDir: string): string | null {
  const known = ['postgres.location', 'postgres.password'].some((name) => existsSync(join(dataDir, name)));
  if (known || dirname(folder) === dataDir || !isComplete(folder)) return null;
  const aside = `${folder}.left-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  renameSync(folder, aside);
  return aside;
}

/** The password of the embedded server, made on the first boot. */
export function readPassword(dataDir: string, mayCreate: boolean): string {
  const path = join(dataDir, 'postgres.password');
  if (!existsSync(path)) {
    if (!mayCreate) throw new Error(`The password of the embedded PostgreSQL, ${path}, is missing. Restore that file.`);
    writeWhole(path, `${randomBytes(24).toString('base64url')}\n`);
  }
  return readFileSync(path, 'utf8').trim();
}

/** The data folder gets its name last, so one that exists is whole; what a killed first boot left is thrown away. */
function isComplete(folder: string): boolean {
  return existsSync(join(folder, 'data', 'PG_VERSION'));
}

/** All of it runs as the account: root writes nothing into a folder that another user may rearrange. */
async function createCluster(
  { folder, account }: Cluster,
  password: string,
  { native, lock, durable }: Preparation,
): Promise<void> {
  const data = join(folder, 'draft', 'data');
  const run = (command: string[], input?: string) => runAs(account, lock, command, input);
  const sh = (script: string, input?: string) => run(['/bin/sh', '-euc', script, 'sh', folder], input);
  const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--encoding=UTF8'];
  const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${join(folder, 'draft', 'password')}`];
  const [initdb, postgres] = [join(native, 'bin', 'initdb'), join(native, 'bin', 'postgres')];
  await sh('umask 077; cd "$1"; rm -rf draft; mkdir draft; cat > draft/password', password);
  await run([initdb, '-D', data, '--no-sync', '--no-instructions', ...locale, ...access]);
  const once = ['--single', '-F', '-c', 'exit_on_error=on', '-D', data, 'postgres'];
  await run([postgres, ...once], `CREATE DATABASE ${DATABASE}\n`);
  // One pass over the finished files costs less than to wait for each on the way.
  if (durable) await run([initdb, '-D', data, '--sync-only']);
  await sh(`cd "$1"; mv draft/data data; rm -r draft${durable ? '; sync .' : ''}`);
}

async function runAs(account: Account | null, lock: number, command: string[], input = ''): Promise<void> {
  const child = spawnAs(account, command, ['pipe', 'ignore', 'pipe', lock]);
  child.stdin?.on('error', () => undefined).end(input);
  const { code, said } = await finish(child);
  const [, nobody] = /could not look up effective user ID (\d+)/.exec(said) ?? [];
  if (nobody !== undefined) throw new Error(nameless(nobody));
  if (code !== 0) throw new Error(`${command[0] ?? ''} failed (${String(code)}): ${said}`);
}

/** Containers run programs under any number, and initdb wants the name that belongs to it. */
function nameless(uid: string): string {
  return (
    `The embedded PostgreSQL cannot make its database as user ID ${uid}, because that user has no name on this machine: ` +
    `add a line such as "millwright:x:${uid}:0::/:/bin/false" to /etc/passwd, run Millwright as a user that has one, or ` +
    'set DATABASE_URL.'
  );
}

/**
 * After a power cut the pid in `postmaster.pid` may be some other process's now, and PostgreSQL would refuse to start.
 * We hold the lock, so none of our servers runs; one that somebody started by hand has this folder as its own.
 */
function dropStalePid(data: string): void {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  let folder = '';
  try {
    folder = readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // No such process, or one of another user.
  }
  if (folder !== realpathSync(data)) rmSync(file, { force: true });
}

function giveTo(path: string, { uid, gid }: Account): void {
  lchownSync(path, uid, gid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) giveTo(child, { uid, gid, name: '' });
    else lchownSync(child, uid, gid);
  }
}
