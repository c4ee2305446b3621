// The folders in which the agents work, into a backup and out of it: one archive, made by tar(1), which knows modes, links, sparse files
// and what changes under it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { OperatorError } from '../../access/auth/operator-error.js';
import { findProgram, isRoot, needProgram } from '../../engine/sandbox/host.js';
import { bytesOf } from '../../engine/sandbox/workdir/folder-size.js';
import { BESIDE, removeFolder } from '../../engine/sandbox/workdir/workdirs.js';
import { FIRST_UID } from '../../engine/sandbox/workdir/user-ids.js';
import { makeReachable, reachableFolder } from '../../platform/config/reachable.js';
import { type Part, readPacked, writePacked } from './parts.js';

/**
 * The kernel takes no path of more bytes (`PATH_MAX`, 4,096 with the byte that ends it). A command that goes down step by step makes longer ones all the same. tar(1) reads
 * those, but cannot make them again, and would end with an error.
 */
const LONGEST_PATH = 4095;
/** Matches, as bytes, each path that is longer, for tar(1) and find(1): a question mark and a star also stand for a slash. */
const TOO_LONG = `${'?'.repeat(LONGEST_PATH + 1)}*`;
const LEAVE_OUT = ['--anchored', `--exclude=${TOO_LONG}`];

/** The archive, and how many paths were too long for it; a folder counts once. */
export interface Workdirs extends Part {
  omitted: number;
}

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
 * Archives those of some tasks, with the folders beside them, as they are at this moment. What changes meanwhile is half old and half new, and what vanishes is left
 * out: a command was running there, and the copy of its task says so.
 */
export async function packWorkdirs(workdirs: string, taskIds: string[], folder: string): Promise<Workdirs> {
  // A mode that makes a program run as its owner has no use in a sandbox, and none outside.
  const tar = ['--create', '--sparse', '--one-file-system', '--numeric-owner', '--mode=ug-s', '--ignore-failed-read'];
  const names = taskIds.flatMap((id) => [id, id + BESIDE]).filter((name) => existsSync(join(workdirs, name)));
  const child = start([...asOwner(), tarProgram(), ...tar, ...LEAVE_OUT, '--null', '--files-from=-'], workdirs);
  child.stdin.on('error', () => undefined).end(names.map((name) => `${name}\0`).join(''));
  const packed = writePacked(folder, 'workdirs.tar.gz', child.stdout);
  const [part, omitted] = await Promise.all([packed, countTooLong(workdirs, taskIds), ended(child, 'tar', [0, 1])]);
  return { ...part, omitted };
}

async function countTooLong(workdirs: string, taskIds: string[]): Promise<number> {
  const find = [needProgram('find', 'findutils'), '.', '-xdev', '-path', `./${TOO_LONG}`, '-prune'];
  // Of each the id of the task, 36 characters: what lies there of other tasks is not in the backup.
  const child = start([...asOwner(), ...find, '-printf', '%.36P\n'], workdirs);
  child.stdin.end();
  const [count] = await Promise.all([countLines(child.stdout, new Set(taskIds)), ended(child, 'find', [0, 1])]);
  return count;
}

async function countLines(input: Readable, among: Set<string>): Promise<number> {
  let count = 0;
  for await (const line of createInterface({ input })) if (among.has(line)) count++;
  return count;
}

/**
 * Unpacks the archive for the service of this `DATA_DIR`, as the user who starts it. Rejects with {@link OperatorError} when there are
 * workdirs already. Resolves with what takes them away again.
 */
export async function unpackWorkdirs(dataDir: string, folder: string, part: Part): Promise<() => Promise<void>> {
  const base = reachableFolder(dataDir, isRoot() ? FIRST_UID : null);
  if (base !== dataDir) makeReachable(base);
  const workdirs = join(base, 'workdirs');
  if (tasksIn(workdirs).length > 0) {
    throw new OperatorError(`There are workdirs in ${workdirs} already. Take them away first.`);
  }
  mkdirSync(workdirs, { recursive: true, mode: 0o700 });
  const undo = () => removeFolder(workdirs);
  try {
    const child = start(
      [tarProgram(), '--extract', '--preserve-permissions', '--numeric-owner', ...LEAVE_OUT],
      workdirs,
    );
    child.stdout.resume();
    const given = readPacked(folder, part, child.stdin).catch(unlessClosed);
    await Promise.all([given, ended(child, 'tar', [0])]);
    return undo;
  } catch (error) {
    await undo();
    throw error;
  }
}

/**
 * Node closes the input of a program that has exited, now and then before it knows that all of it was taken (2 of 600 times on
 * a busy machine). Whether tar had all of it, its exit code says.
 */
function unlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE' && error.code !== 'EPIPE') throw error;
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

/** 1 of tar(1): something changed while it was read; of find(1): something went away, or may not be read. */
async function ended(child: ChildProcess, name: string, fine: number[]): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-1000)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === null || !fine.includes(code))
    throw new OperatorError(`${name} ended with ${String(code)}: ${said.trim()}`);
}
