// The folders in which the agents work, into a backup and out of it: one archive, made by tar(1), which knows modes, links, sparse files
// and what changes under it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../access/auth/operator-error.js';
import { findProgram, isRoot, needProgram } from '../../engine/sandbox/host.js';
import { bytesOf } from '../../engine/sandbox/workdir/disk-watch.js';
import { FIRST_UID } from '../../engine/sandbox/workdir/user-ids.js';
import { makeReachable, reachableFolder } from '../../platform/config/reachable.js';
import { type Part, readPacked, writePacked } from './parts.js';

/** Where the workdirs of a `DATA_DIR` are: the sandbox has left word when they are outside of it. */
export function workdirsOf(dataDir: string): string {
  const record = join(dataDir, 'sandbox.location');
  return join(existsSync(record) ? readFileSync(record, 'utf8').trim() : dataDir, 'workdirs');
}

/** The ids of the tasks that have a workdir. */
export function tasksIn(workdirs: string): string[] {
  return existsSync(workdirs) ? readdirSync(workdirs) : [];
}

/** Bytes on the disk. */
export async function sizeOf(workdirs: string): Promise<number> {
  return existsSync(workdirs) ? bytesOf(workdirs) : 0;
}

/**
 * Archives some of them as they are at this moment. What changes meanwhile is half old and half new, and what vanishes is left
 * out: a command was running there, and the copy of its task is told so.
 */
export async function packWorkdirs(workdirs: string, names: string[], folder: string): Promise<Part> {
  // A mode that makes a program run as its owner has no use in a sandbox, and none outside.
  const tar = ['--create', '--sparse', '--one-file-system', '--numeric-owner', '--mode=ug-s', '--ignore-failed-read'];
  const child = start([...asOwner(), tarProgram(), ...tar, '--null', '--files-from=-'], workdirs);
  child.stdin.on('error', () => undefined).end(names.map((name) => `${name}\0`).join(''));
  const [part] = await Promise.all([writePacked(folder, 'workdirs.tar.gz', child.stdout), ended(child, [0, 1])]);
  return part;
}

/**
 * Unpacks the archive for the service of this `DATA_DIR`, as the user who starts it. Rejects with {@link OperatorError} when there are
 * workdirs already. Resolves with what takes them away again.
 */
export async function unpackWorkdirs(dataDir: string, folder: string, part: Part): Promise<() => void> {
  const base = reachableFolder(dataDir, isRoot() ? FIRST_UID : null);
  if (base !== dataDir) makeReachable(base);
  const workdirs = join(base, 'workdirs');
  if (tasksIn(workdirs).length > 0) {
    throw new OperatorError(`There are workdirs in ${workdirs} already. Take them away first.`);
  }
  mkdirSync(workdirs, { recursive: true, mode: 0o700 });
  const undo = () => rmSync(workdirs, { recursive: true, force: true });
  try {
    const child = start([tarProgram(), '--extract', '--preserve-permissions', '--numeric-owner'], workdirs);
    child.stdout.resume();
    await Promise.all([readPacked(folder, part, child.stdin), ended(child, [0])]);
    return undo;
  } catch (error) {
    undo();
    throw error;
  }
}

/** Root of a user namespace may read what the agent has closed to itself. Where there is none, that is left out. */
function asOwner(): string[] {
  const unshare = isRoot() ? null : findProgram('unshare');
  if (unshare === null) return [];
  const command = [unshare, '--user', '--map-root-user'];
  return spawnSync(unshare, [...command.slice(1), 'true'], { env: {} }).status === 0 ? command : [];
}

const tarProgram = () => needProgram('tar', 'tar');

function start([program = '', ...args]: string[], cwd: string) {
  return spawn(program, args, { cwd, env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** 1 of tar(1): something changed while it was read. */
async function ended(child: ChildProcess, fine: number[]): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-1000)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === null || !fine.includes(code)) throw new OperatorError(`tar ended with ${String(code)}: ${said.trim()}`);
}
