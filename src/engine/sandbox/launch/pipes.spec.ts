import {
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
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
    const { input, output } = await pipes.open();
    closeSync(input);
    output.destroy();
    if (close) pipes.close();
  };
  /** Of this process: others make theirs meanwhile. */
  const ownFolders = () =>
    readdirSync(tmpdir())
      .filter((name) => name.startsWith('millwright-pipes-') && ownerOf(name).includes(`.${process.pid}.`))
      .map((name) => join(tmpdir(), name));
  const ownerOf = (name: string) => {
    try {
      return readFileSync(join(tmpdir(), name, 'owner'), 'utf8');
    } catch {
      return '';
    }
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
    const before = ownFolders();
    const pipes = new Pipes(findProgram('mkfifo') ?? '');
    await taken(pipes, false);
    const made = ownFolders().filter((path) => !before.includes(path));
    expect(made).toHaveLength(1);
    for (const path of made) rmSync(path, { recursive: true });
    closeSync(pipes.file(Buffer.from('content')));
    await taken(pipes);
  });
});
