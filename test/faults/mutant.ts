// A copy of the built service with one safeguard taken out, to see the suite notice. The product itself has no such switch.
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../harness/service.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Mutation {
  /** In `dist`. */
  file: string;
  /** Stands there exactly once: after a refactoring the control fails rather than pass for nothing. */
  text: string;
  instead: string;
}

/** No look at the database each second: only signals bring work. */
export const NO_RECONCILER: Mutation = {
  file: 'work/runs/reconciler.js',
  text: 'void this.loop.wake()',
  instead: 'void this.loop',
};

export interface Mutant {
  dist: string;
  remove: () => void;
}

export function mutantOf({ file, text, instead }: Mutation): Mutant {
  const folder = temporaryFolder();
  const dist = join(folder.path, 'dist');
  cpSync(join(ROOT, 'dist'), dist, { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder.path, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  const path = join(dist, file);
  const pieces = readFileSync(path, 'utf8').split(text);
  if (pieces.length !== 2) {
    folder.remove();
    throw new Error(`dist/${file} has this ${pieces.length - 1} times instead of once: ${text}`);
  }
  writeFileSync(path, pieces.join(instead));
  return { dist, remove: folder.remove };
}
