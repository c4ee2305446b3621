import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/harness/service.js';
import { sizeOf } from './folder-size.js';

/** What du(1) says of a folder. */
const said = (path: string) => {
  const du = (what: string) => Number.parseInt(String(execFileSync('du', ['-sx', what, '--', path])), 10);
  return { bytes: du('--block-size=1'), inodes: du('--inodes') };
};

describe('The size of folders', () => {
  const folder = temporaryFolder();
  const at = (...names: string[]) => join(folder.path, ...names);
  afterAll(() => folder.remove());

  it('is what du(1) says: of hard links once, of links themselves, of sparse files their blocks', async () => {
    mkdirSync(at('few', 'below'), { recursive: true });
    writeFileSync(at('few', 'a'), 'x'.repeat(10_000));
    linkSync(at('few', 'a'), at('few', 'below', 'b'));
    symlinkSync('/', at('few', 'root'));
    writeFileSync(at('few', 'sparse'), '');
    truncateSync(at('few', 'sparse'), 50_000_000);
    expect(await sizeOf([at('few')])).toEqual(said(at('few')));
    expect((await sizeOf([at('few')])).bytes).toBeLessThan(1_000_000);
  });

  it('is found for many files, and for folders deep in each other', async () => {
    mkdirSync(at('many'));
    for (let n = 0; n < 200; n++) writeFileSync(at('many', String(n)), 'x');
    mkdirSync(at('deep', ...Array<string>(20).fill('d')), { recursive: true });
    for (const name of ['many', 'deep']) expect(await sizeOf([at(name)])).toEqual(said(at(name)));
    expect((await sizeOf([at('many'), at('deep')])).inodes).toBe(201 + 21);
  });
});
