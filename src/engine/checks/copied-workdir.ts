// What a check of a task without a repository begins with: a copy of its workdir, with protected files as they were stored.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { InputFile } from '../agent/agent-engine.js';
import { needProgram, run } from '../sandbox/host.js';
import { SandboxFileError, type SandboxSession } from '../sandbox/sandbox.js';
import { CheckError } from './check.js';
import { type Entry, protectedAmong, type Protects } from './protection.js';
import { asRead, bytePaths, inBytes, inWords, printedBytes } from './byte-paths.js';

const PUT_BACK = readFileSync(new URL('./put-back.sh', import.meta.url), 'utf8');

/**
 * Copies a workdir into an empty folder, on the host, while no command of the task runs: links stay links, and are followed nowhere.
 * @param owner whose it is to be; null: that of the user of the process.
 */
export async function copyWorkdir(from: string, to: string, owner: number | null, signal: AbortSignal): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await run(needProgram('cp', 'coreutils'), ['-a', '--reflink=auto', '-T', '--', from, to], { env: {}, signal });
  if (owner === null) return;
  await run(needProgram('chown', 'coreutils'), ['-hR', `${owner}:${owner}`, '--', to], { env: {}, signal });
}

/** Puts protected files back: those that were stored as they were, others away. Resolves with those that differed. */
export async function putBack(
  session: SandboxSession,
  files: readonly InputFile[],
  isProtected: Protects,
): Promise<string[]> {
  const among = await isProtected(files.map(({ path }) => path));
  const stored = files.filter(({ path }) => among.has(path));
  const listed = await makeRoom(session, stored);
  const there = new Set(await protectedAmong(listed, isProtected));
  const changed: string[] = [];
  for (const file of stored) {
    if (there.delete(inBytes(file.path)) && (await same(session, file))) continue;
    changed.push(file.path);
    const content = await file.open();
    try {
      await session.writeFile(file.path, content, { noLinks: true });
    } finally {
      content.destroy();
    }
  }
  if (there.size > 0) await remove(session, [...there]);
  return [...changed, ...[...there].map(inWords)];
}

/** Resolves with all files that are there then. */
async function makeRoom(session: SandboxSession, stored: readonly InputFile[]): Promise<Entry[]> {
  const stdin = asRead(stored.map(({ path }) => inBytes(path)));
  const printed = printedBytes();
  const { exitCode } = await session.run(PUT_BACK, { stdin, ...printed.how });
  if (exitCode !== 0) throw new CheckError('The files of the workdir could not be listed.');
  return bytePaths(printed.bytes()).map((line) => ({ path: line.slice(1), isLink: line.startsWith('l') }));
}

async function same(session: SandboxSession, file: InputFile): Promise<boolean> {
  try {
    const { content } = await session.readFile(file.path);
    return (await hashOf(content)) === (await hashOf(await file.open()));
  } catch (error) {
    if (error instanceof SandboxFileError) return false;
    throw error;
  }
}

async function hashOf(content: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function remove(session: SandboxSession, paths: string[]): Promise<void> {
  const stdin = asRead(paths, './');
  const { exitCode } = await session.run('xargs -0 rm -f --', { stdin });
  if (exitCode !== 0) throw new CheckError('Protected files that were added could not be removed.');
}
