import { jest } from '@jest/globals';
import fs, { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeOnce, writeWhole } from './whole-files.js';

describe('A small file of DATA_DIR', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'millwright-whole-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('that is written once keeps what was written first, so that two processes at once agree', () => {
    const path = join(folder, 'mark');
    writeOnce(path, 'first');
    writeOnce(path, 'second');
    expect(readFileSync(path, 'utf8')).toBe('first');
    expect(readdirSync(folder)).toEqual(['mark']);
  });

  it('that is written whole is replaced; either is closed to others', () => {
    const [once, whole] = [join(folder, 'once'), join(folder, 'whole')];
    writeOnce(once, 'first');
    for (const content of ['first', 'second']) writeWhole(whole, content);
    expect(readFileSync(whole, 'utf8')).toBe('second');
    expect([once, whole].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(readdirSync(folder)).toEqual(['once', 'whole']);
  });

  it.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])(
    'is made, once, where the file system has neither links nor folders to sync (%s)',
    (code) => {
      const refuse = () => {
        throw Object.assign(new Error(`${code}: not offered`), { code });
      };
      const { fsyncSync } = fs;
      const spies = [
        jest.spyOn(fs, 'linkSync').mockImplementation(refuse),
        jest
          .spyOn(fs, 'fsyncSync')
          .mockImplementation((file) => (fs.fstatSync(file).isDirectory() ? refuse() : fsyncSync(file))),
      ];
      syncBuiltinESMExports();
      try {
        const path = join(folder, 'mark');
        for (const content of ['first', 'second']) writeOnce(path, content);
        expect(readFileSync(path, 'utf8')).toBe('first');
        for (const spy of spies) expect(spy).toHaveBeenCalled();
      } finally {
        for (const spy of spies) spy.mockRestore();
        syncBuiltinESMExports();
      }
      expect(statSync(join(folder, 'mark')).mode & 0o777).toBe(0o600);
      expect(readdirSync(folder)).toEqual(['mark']);
    },
  );

  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  asRoot('that root writes belongs to the owner of its folder', () => {
    chownSync(folder, 4242, 4243);
    const [once, whole] = [join(folder, 'once'), join(folder, 'whole')];
    writeOnce(once, 'first');
    writeWhole(whole, 'first');
    for (const path of [once, whole]) expect(statSync(path)).toMatchObject({ uid: 4242, gid: 4243 });
  });
});
