import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { canWalk, reachableFolder, removeTree } from './reachable.js';

const STRANGER = 54_321;

describe('what another user can reach', () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'millwright-reach-')));
  const inner = join(base, 'inner');
  const { uid, gid } = statSync(base);
  const modes = (outer: number, own: number) => {
    chmodSync(inner, own);
    chmodSync(base, outer);
  };

  beforeAll(() => mkdirSync(inner));
  afterAll(() => {
    modes(0o700, 0o700);
    rmSync(base, { recursive: true });
  });

  it('needs the search bit for that user on every folder', () => {
    modes(0o711, 0o711);
    expect(canWalk(inner, STRANGER, STRANGER)).toBe(true);
    modes(0o711, 0o700);
    expect(canWalk(inner, STRANGER, STRANGER)).toBe(false);
    modes(0o700, 0o711);
    expect(canWalk(inner, STRANGER, STRANGER)).toBe(false);
    expect(canWalk(inner, 0, 0)).toBe(true);
  });

  it('counts the bits of the first class that fits, as the kernel does', () => {
    modes(0o710, 0o711);
    expect(canWalk(inner, STRANGER, gid)).toBe(true);
    expect(canWalk(inner, STRANGER, STRANGER)).toBe(false);
    modes(0o701, 0o711);
    expect(canWalk(inner, STRANGER, gid)).toBe(false);
    modes(0o711, 0o677);
    if (uid !== 0) expect(canWalk(inner, uid, gid)).toBe(false);
  });

  it('follows a link to where it leads', () => {
    modes(0o711, 0o700);
    writeFileSync(join(inner, 'program'), '', { mode: 0o755 });
    symlinkSync(join(inner, 'program'), join(base, 'link'));
    expect(canWalk(join(base, 'link'), STRANGER, STRANGER)).toBe(false);
    modes(0o711, 0o711);
    expect(canWalk(join(base, 'link'), STRANGER, STRANGER)).toBe(true);
  });

  it('is deleted whole, also where its paths are longer than the kernel takes', () => {
    const deep = join(base, 'deep');
    const name = 'n'.repeat(250);
    const make = `const { mkdirSync } = require('node:fs');
      for (const name of process.argv.slice(1)) (mkdirSync(name), process.chdir(name));`;
    execFileSync(process.execPath, ['-e', make, deep, ...Array.from({ length: 20 }, () => name)]);
    expect(() => rmSync(deep, { recursive: true })).toThrow('ENAMETOOLONG');
    removeTree(deep);
    expect(existsSync(deep)).toBe(false);
  });

  it('is deleted whole, also where folders are closed for their owner', () => {
    const closed = join(base, 'closed', 'inside');
    mkdirSync(closed, { recursive: true });
    writeFileSync(join(closed, 'file'), '');
    for (const [path, mode] of [
      [closed, 0],
      [dirname(closed), 0o500],
    ] as const)
      chmodSync(path, mode);
    removeTree(dirname(closed));
    expect(existsSync(dirname(closed))).toBe(false);
  });

  it('lies in DATA_DIR, else in a place of its own below /var/lib', () => {
    modes(0o711, 0o700);
    expect(reachableFolder(inner, null)).toBe(inner);
    const outside = reachableFolder(inner, STRANGER);
    expect(outside).toMatch(/^\/var\/lib\/millwright\/[0-9a-f]{16}$/);
    expect(reachableFolder(inner, STRANGER)).toBe(outside);
    expect(reachableFolder(base, STRANGER)).toBe(base);
    modes(0o700, 0o700);
    expect(reachableFolder(base, STRANGER)).not.toBe(outside);
  });
});
