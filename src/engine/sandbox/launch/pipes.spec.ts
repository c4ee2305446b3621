import { chownSync, closeSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, isRoot, ownName } from '../host.js';
import { Pipes } from './pipes.js';

describe('The pipes for the output of commands', () => {
  const folders: string[] = [];
  const folderOf = (owner: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'millwright-pipes-'));
    folders.push(folder);
    writeFileSync(join(folder, 'owner'), owner);
    return folder;
  };
  const taken = async (pipes: Pipes, close = true) => {
    const { input, output } = await pipes.take();
    closeSync(input);
    output.destroy();
    if (close) pipes.close();
  };
  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

  it('of a process that was killed are removed by the next one, and those of a process that works are not', async () => {
    // No process has this number: they end at 4,194,304.
    const ended = folderOf(ownName().replace(`.${process.pid}.`, '.9999999.'));
    const works = folderOf(ownName());
    await taken(new Pipes(findProgram('mkfifo') ?? ''));
    expect([existsSync(ended), existsSync(works)]).toEqual([false, true]);
  });

  (isRoot() ? it : it.skip)('of another user are left alone', async () => {
    const foreign = folderOf(ownName().replace(`.${process.pid}.`, '.9999999.'));
    chownSync(foreign, 12_345, 12_345);
    await taken(new Pipes(findProgram('mkfifo') ?? ''));
    expect(existsSync(foreign)).toBe(true);
  });

  it('are made anew when somebody has cleaned the folder for temporary files', async () => {
    const before = new Set(readdirSync(tmpdir()));
    const pipes = new Pipes(findProgram('mkfifo') ?? '');
    await taken(pipes, false);
    const own = readdirSync(tmpdir()).filter((name) => name.startsWith('millwright-pipes-') && !before.has(name));
    expect(own).toHaveLength(1);
    for (const name of own) rmSync(join(tmpdir(), name), { recursive: true });
    closeSync(pipes.file(Buffer.from('content')));
    await taken(pipes);
  });
});
