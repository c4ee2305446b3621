// How tasks get the folders of a build (docs/decisions/0098): the file system decides what a copy takes.
import { randomBytes } from 'node:crypto';
import { copyFileSync, constants, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workdirsOf } from '../backup/workdirs.js';
import { type Check, ok, warn } from './check.js';
import { reasonOf } from './words.js';

const NAME = 'environments';

export const environmentsCheck: Check = {
  name: NAME,
  run({ env, dataDir }) {
    if (!env.runsWork || dataDir === null) return Promise.resolve([]);
    // They lie beside the workdirs; before the first boot there are none.
    const workdirs = workdirsOf(dataDir.path);
    const folder = join(existsSync(workdirs) ? workdirs : dataDir.path, `.doctor-${randomBytes(6).toString('hex')}`);
    try {
      mkdirSync(folder, { mode: 0o700 });
      return Promise.resolve([ok(NAME, sharesBlocks(folder) ? SHARED : COPIED)]);
    } catch (error) {
      const advice = 'Tasks get a copy from the storage then; make the folder writable.';
      return Promise.resolve([warn(NAME, `What tasks get of a build was not tried: ${reasonOf(error)}`, advice)]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const SHARED =
  'Tasks get the folders of a build as copies that share its blocks (reflinks), made beforehand: they take what they change.';
const COPIED =
  'Tasks get the folders of a build as copies, made beforehand. The file system shares no blocks (XFS and Btrfs do), so each takes its whole size; no layers are used.';

function sharesBlocks(folder: string): boolean {
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  writeFileSync(from, Buffer.alloc(64 * 1024, 1));
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  }
}
