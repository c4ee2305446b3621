import { closeSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, ownName } from '../host.js';
import { Pipes } from './pipes.js';

describe('The pipes for the output of commands', () => {
  const folders: string[] = [];
  const folderOf = (owner: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'millwright-pipes-'));
    folders.push(folder);
    writeFileSync(join(folder, 'owner'), owner);
    return folder;
  };
  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

  it('of a process that was killed are removed by the next one, and those of a process that works are not', async () => {
    // No process has this number: they end at 4,194,304.
    const ended = folderOf(ownName().replace(`.${process.pid}.`, '.9999999.'));
    const works = folderOf(ownName());
    const pipes = new Pipes(findProgram('mkfifo') ?? '');
    const { input, output } = await pipes.take();
    closeSync(input);
    output.destroy();
    pipes.close();
    expect([existsSync(ended), existsSync(works)]).toEqual([false, true]);
  });
});
