// What a command has written last, deleted where the disk of the service is short (docs/decisions/0068).
import { needProgram, run } from '../host.js';

/** The largest first: files above so many KiB. -1 is every file. */
const SIZES_KIB = [16 * 1024, 1024, 64, -1];
/** `nothing` was new, `deleted`: some files were, `hidden`: the disk is still short, and there are folders that cannot be looked into. */
export type Deleted = 'nothing' | 'deleted' | 'hidden';

/** One deletes at a time and asks again before each size, so that the large files of one task go before the small ones of another. */
let turns: Promise<unknown> = Promise.resolve();

/**
 * Deletes files that were made or changed since then (milliseconds since 1970), the largest first, while `isShort`. By find(1), which follows
 * no link and holds the folders open that it walks through. A command cannot set the time that counts (ctime).
 */
export async function deleteNewest(
  folders: string[],
  since: number,
  isShort: () => Promise<boolean>,
): Promise<Deleted> {
  let [deleted, hidden] = [false, false];
  for (const kib of SIZES_KIB) {
    const turn = turns.then(async () => {
      if (!(await isShort())) return false;
      const args = ['-P', ...folders, '-xdev', '-type', 'f', '-newerct', `@${(since / 1000).toFixed(3)}`];
      const size = kib < 0 ? [] : ['-size', `+${kib}k`];
      const found = await run(needProgram('find', 'findutils'), [...args, ...size, '-delete', '-printf', '.'], {
        env: {},
        maxBuffer: 64 * 1024 ** 2,
      }).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? '', failed: true }));
      deleted ||= found.stdout !== '';
      hidden = 'failed' in found;
      return true;
    });
    turns = turn.catch(() => undefined);
    if (!(await turn)) return deleted ? 'deleted' : 'nothing';
  }
  return hidden ? 'hidden' : deleted ? 'deleted' : 'nothing';
}
