import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { TestApp } from './app.js';
import { isRoot } from '../../src/engine/sandbox/host.js';
import { SandboxSelector } from '../../src/engine/sandbox/sandbox-selector.js';

/** Kind, mode, time, links and name of each; of files also the size and how many names they have. */
const FORMAT = ['-printf', '%y|%m|%T@|%l|%P\\n', '-type', 'f', '-printf', '%s|%n|%P\\n'];

/** Root of a user namespace reads what its owner has closed, as root does. */
const ALL_SEEING = isRoot() ? [] : ['unshare', '--user', '--map-root-user'];

/** All that the folders of a task hold, a line each: two of them are equal when nobody can tell the folders apart. */
export async function listingOf({ app }: Pick<TestApp, 'app'>, taskId: string): Promise<string[]> {
  const folders = await app.get(SandboxSelector, { strict: false }).current.folders(taskId);
  return Object.entries(folders ?? {}).flatMap(([name, cwd]) => {
    if (!existsSync(cwd)) return [`${name} is absent`];
    const find = (...args: string[]) => {
      const [program = '', ...words] = [...ALL_SEEING, 'find', '.', ...args];
      return execFileSync(program, words, { cwd }).toString('latin1').split('\n').sort();
    };
    const sums = find('-type', 'f', '-exec', 'sha256sum', '{}', '+');
    return [...find(...FORMAT), ...sums].map((line) => `${name}: ${line}`);
  });
}

/** The folders of a task on the disk, with what lies beside them. */
export async function foldersOf({ app }: Pick<TestApp, 'app'>, taskId: string): Promise<Record<string, string>> {
  return (await app.get(SandboxSelector, { strict: false }).current.folders(taskId)) ?? {};
}
