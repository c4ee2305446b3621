import { closeSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/harness/service.js';
import { findProgram, ownName } from '../host.js';
import { openPipe, Pipes, removePipes } from './pipes.js';

describe('The pipes of commands', () => {
  let base: { path: string; remove: () => void };
  let pipes: Pipes;
  beforeEach(() => {
    base = temporaryFolder();
    pipes = new Pipes(findProgram('mkfifo') ?? '', base.path);
  });
  afterEach(() => {
    pipes.close();
    base.remove();
  });
  const folderOf = (owner: string) => {
    const folder = join(base.path, `pipes.${owner}`);
    mkdirSync(folder);
    return folder;
  };

  it('lie in a folder for each box that nobody but the service can list, and carry what is written', async () => {
    const place = pipes.place();
    expect(statSync(place).mode & 0o777).toBe(0o311);
    await pipes.make(place, ['out', 'err']);
    const { own, other } = openPipe(join(place, 'out'), 'read');
    const said = new Promise((resolve) => own.once('data', (chunk) => resolve(String(chunk))));
    writeFileSync(other, 'written');
    closeSync(other);
    expect(await said).toBe('written');
    own.destroy();
  });

  it('of a process that was killed are removed by the next one, and those of a process that works are not', () => {
    // No process has this number: they end at 4,194,304.
    const ended = folderOf(ownName().replace(`.${process.pid}.`, '.9999999.'));
    const works = folderOf(ownName());
    pipes.place();
    expect([existsSync(ended), existsSync(works)]).toEqual([false, true]);
  });

  it('are made anew when somebody has removed them', async () => {
    const place = pipes.place();
    await pipes.make(place, ['out']);
    removePipes(place);
    rmSync(join(place, '..'), { recursive: true });
    const next = pipes.place();
    await pipes.make(next, ['out']);
    closeSync(pipes.file(Buffer.from('content')));
    expect(statSync(join(next, 'out')).isFIFO()).toBe(true);
  });

  it('go with the process', async () => {
    await pipes.make(pipes.place(), ['out']);
    pipes.close();
    expect(readdirSync(base.path)).toEqual([]);
  });
});
