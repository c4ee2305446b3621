import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/harness/service.js';
import { newId } from '../../../platform/database/ids.js';
import { checkFolderOf, Workdirs } from './workdirs.js';

describe('The tasks that have folders here', () => {
  const base = temporaryFolder();
  afterAll(() => base.remove());

  it('are those of whole and of half folders, and no trial of a process that boots', async () => {
    const workdirs = await Workdirs.open(base.path, false);
    const [whole, half, trial] = [newId(), newId(), randomUUID()];
    for (const id of [whole, trial]) await workdirs.make(id, null);
    mkdirSync(`${workdirs.path(half)}.removed`);
    expect((await workdirs.taskIds()).sort()).toEqual([whole, half].sort());
  });
});

describe('The folders of a check', () => {
  const base = temporaryFolder();
  afterAll(() => base.remove());

  it('go with its task, also where its process was killed while it removed them', async () => {
    const workdirs = await Workdirs.open(base.path, false);
    const task = newId();
    await workdirs.make(checkFolderOf(task, 8), null);
    mkdirSync(`${workdirs.path(checkFolderOf(task, 8))}.removed/half`, { recursive: true });
    expect(await workdirs.taskIds()).toEqual([task]);
    await workdirs.remove(task);
    expect(await workdirs.taskIds()).toEqual([]);
  });
});

// As root nothing is closed: that a closed folder can be moved is seen where an ordinary user runs this.
describe('The folders of a task that are made again', () => {
  const base = temporaryFolder();
  let workdirs: Workdirs;
  beforeAll(async () => (workdirs = await Workdirs.open(base.path, false)));
  afterAll(() => base.remove());

  it.each(['500', '000', '1755'])(
    'have the mode of their workdir, %s, also where its task has closed it',
    async (octal) => {
      const mode = parseInt(octal, 8);
      const id = newId();
      await workdirs.restore(id, ({ workdir = '', home = '' }) => {
        writeFileSync(join(home, 'a'), 'beside');
        writeFileSync(join(workdir, 'b'), 'in it');
        chmodSync(workdir, mode);
        return Promise.resolve();
      });
      const { workdir, home } = workdirs.folders(id);
      expect(statSync(workdir).mode & 0o7777).toBe(mode);
      expect(readFileSync(join(home, 'a'), 'utf8')).toBe('beside');
      chmodSync(workdir, 0o700);
      expect(readFileSync(join(workdir, 'b'), 'utf8')).toBe('in it');
      expect(
        readdirSync(join(base.path, 'workdirs'))
          .filter((name) => name.startsWith(id))
          .sort(),
      ).toEqual([id, `${id}.beside`]);
    },
  );

  it('are not there when the last of them could not be moved', async () => {
    const id = newId();
    const path = workdirs.path(id);
    // A file where the folder is to be.
    const made = workdirs.restore(id, () => Promise.resolve(writeFileSync(path, '')));
    await expect(made).rejects.toThrow(/ENOTDIR/);
    expect([existsSync(`${path}.beside`), existsSync(`${path}.restoring`)]).toEqual([false, false]);
  });
});
