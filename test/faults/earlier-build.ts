// The version that is in use before this one, built from the history of this checkout.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../harness/service.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

export interface EarlierBuild {
  dist: string;
  remove: () => void;
}

/** The commit of that version: the file changes with each release. */
export const EARLIER = readFileSync(join(ROOT, 'deploy/upgrade-from'), 'utf8').trim();

/** Whether the history is here: a copy without it, or without all of it, has nothing to build. */
export function hasEarlier(): boolean {
  const { status } = spawnSync('git', ['-C', ROOT, 'cat-file', '-e', `${EARLIER}^{commit}`]);
  return status === 0;
}

export async function buildEarlier(): Promise<EarlierBuild> {
  const { path, remove } = temporaryFolder();
  try {
    const checkout = join(path, 'checkout');
    mkdirSync(checkout);
    await run('sh', ['-c', 'git -C "$1" archive "$2" | tar -x -C "$3"', 'sh', ROOT, EARLIER, checkout]);
    if (installedFor(checkout)) symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
    else await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: checkout });
    await run(join(checkout, 'node_modules/.bin/nest'), ['build'], { cwd: checkout });
    return { dist: join(checkout, 'dist'), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Whether the packages of this checkout are also those of the other one: all that it runs on, in the same versions. */
function installedFor(checkout: string): boolean {
  const [here, there] = [lockOf(ROOT), lockOf(checkout)];
  return Object.entries(there).every(
    ([path, { version, dev }]) => path === '' || dev || here[path]?.version === version,
  );
}

function lockOf(folder: string): Record<string, { version?: string; dev?: boolean }> {
  const text = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  return (JSON.parse(text) as { packages: Record<string, { version?: string; dev?: boolean }> }).packages;
}
