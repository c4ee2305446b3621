import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRoot } from '../../src/engine/sandbox/host.js';
import { FIRST_UID } from '../../src/engine/sandbox/workdir/user-ids.js';
import { BESIDE } from '../../src/engine/sandbox/workdir/workdirs.js';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { reachableFolder, removeReachable } from '../../src/platform/config/reachable.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { query } from '../harness/embedded.js';
import { emptyDatabase, FAILS_AT_THE_END } from '../harness/new-database.js';
import { Operator } from '../harness/operator.js';
import { temporaryFolder } from '../harness/service.js';
import { createTask } from '../harness/tasks.js';

/** Lays folders into each other until a path is too long to be given to the kernel, with files whose paths just fit and just do not. */
const BURIES = `set -e; name=$(printf 'n%.0s' {1..250}); ln -s . link; mkdir -m 500 closed; echo top > top
  for depth in {1..16}; do mkdir $name; cd ./$name; done
  free=$((4095 - $1 - 16 * 251 - 1)); pad=$(printf 'p%.0s' {1..200}); echo fits > \${pad:0:$free}
  mkdir d\${pad:0:$free}; echo in > d\${pad:0:$free}/in; echo long > \${pad:0:$((free + 1))}; echo kept > l\${pad:0:$free}
  ln l\${pad:0:$free} ../beside; mkdir $name; cd ./$name; echo deep > deep`;

describe('A backup of workdirs (reference §16)', () => {
  const service = useService(() => bootApp());
  const room = temporaryFolder();
  afterAll(() => room.remove());
  const operator = (url: string, DATA_DIR: string) => new Operator({ db: { url } }, { DATA_DIR });

  it('leaves out paths that are too long to be made again, and says how many; the rest is restored', async () => {
    const { client } = await makeMember(service);
    const { id: taskId } = await createTask(client, { content: 'Work.' });
    const workdirs = join(service.app.get(DataDir).path, 'workdirs');
    // Where commands of the sandbox make them.
    const folders = [taskId, `${taskId}${BESIDE}/tmp`, `${taskId}${BESIDE}/home`];
    for (const name of folders) {
      mkdirSync(join(workdirs, name), { recursive: true });
      execFileSync('bash', ['-c', BURIES, 'bash', String(name.length)], { cwd: join(workdirs, name) });
    }
    const target = await emptyDatabase();
    const dataDir = join(room.path, 'copy');
    mkdirSync(dataDir, { mode: 0o700 });
    const restored = join(reachableFolder(dataDir, isRoot() ? FIRST_UID : null), 'workdirs');
    try {
      const folder = join(room.path, 'backup');
      // Of each the folder and the three files with names too long: a folder counts once.
      const line = '! 12 paths of workdirs, longer than 4,095 bytes, were left out';
      expect(await operator(service.db.url, service.app.get(DataDir).path).run('backup', folder)).toContain(line);
      // What fails behind them takes them away again.
      await query(target.adminUrl, FAILS_AT_THE_END);
      await expect(operator(target.url, dataDir).run('restore', folder)).rejects.toThrow('no space left');
      expect([readdirSync(dataDir), existsSync(restored)]).toEqual([[], false]);
      await query(target.adminUrl, 'DROP EVENT TRIGGER broken; DROP FUNCTION broken');
      expect(await operator(target.url, dataDir).run('restore', folder)).toContain(line);
      const found = (base: string, name: string) =>
        execFileSync('find', ['.', '-printf', '%M %f %l\n'], { cwd: join(base, name), encoding: 'utf8' }).split('\n');
      for (const name of folders) {
        const [before, after] = [found(workdirs, name), found(restored, name)];
        expect(before.length - after.length).toBe(6);
        expect(after.every((one) => before.includes(one))).toBe(true);
        const near = join(restored, name, ...Array<string>(15).fill('n'.repeat(250)));
        expect(readFileSync(join(near, 'beside'), 'utf8')).toBe('kept\n');
      }
    } finally {
      execFileSync('rm', ['-rf', workdirs, dataDir]);
      removeReachable(dataDir);
      await target.drop();
    }
  });
});
