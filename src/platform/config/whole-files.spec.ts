import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
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
});
