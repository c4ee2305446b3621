// Two locks of the kernel (flock) keep a DATA_DIR to one owner. They end with the processes that hold them, so a
// kill -9 leaves no stale one:
//  service.lock   held by the service's own process; tells a second service that it is one too many
//  postgres.lock  held by the server and by whatever prepares it; free means that nothing of it runs any more
import { spawn } from 'node:child_process';
import { closeSync, fchownSync, ftruncateSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { finish } from './embedded-account.js';

const TAKEN = 75;

/** What an operator command needs to join a running server. Written when the server is ready. */
export interface Runtime {
  /** Of the Node process that started the server. */
  pid: number;
  port: number;
  role: 'service' | 'command';
}

/** Another service runs on the same `DATA_DIR`. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse';

  constructor(dataDir: string, pid: string) {
    super(
      `Another Millwright (process ${pid || 'unknown'}) already runs on DATA_DIR ${dataDir}. ` +
        'Stop it first, give this one a DATA_DIR of its own, or set DATABASE_URL to share a PostgreSQL server.',
    );
  }
}

/**
 * Tries to lock a file and gives its descriptor, or `null` when another holds it. The lock belongs to the open file: it
 * is held until this process and all that were given the descriptor have closed it or ended.
 */
export async function tryLock(path: string): Promise<number | null> {
  const descriptor = openOwned(path, 'a+');
  try {
    // Node cannot flock; a child that inherits the open file can do it for us.
    const child = spawn('flock', ['--nonblock', '--conflict-exit-code', String(TAKEN), '3'], {
      stdio: ['ignore', 'ignore', 'pipe', descriptor],
    });
    const { code, said } = await finish(child);
    if (code === 0) return descriptor;
    if (code !== TAKEN) throw new Error(`Cannot lock ${path}: ${said || `flock ended with ${String(code)}`}`);
  } catch (error) {
    closeSync(descriptor);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error('The embedded PostgreSQL needs the command "flock" (package util-linux) in PATH.', {
      cause: error,
    });
  }
  closeSync(descriptor);
  return null;
}

/** Makes this process the one service on a `DATA_DIR`; throws {@link DataDirInUse}. Gives the descriptor to close. */
export async function lockService(dataDir: string): Promise<number> {
  const path = join(dataDir, 'service.lock');
  const descriptor = await tryLock(path);
  if (descriptor === null) throw new DataDirInUse(dataDir, readFileSync(path, 'utf8').trim());
  ftruncateSync(descriptor);
  writeSync(descriptor, `${process.pid}\n`);
  return descriptor;
}

export function writeRuntime(dataDir: string, runtime: Runtime): void {
  const descriptor = openOwned(join(dataDir, 'postgres.json'), 'w');
  writeSync(descriptor, JSON.stringify(runtime));
  closeSync(descriptor);
}

/** `null` when there is none, or none that is written to its end. */
export function readRuntime(dataDir: string): Runtime | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as Runtime;
  } catch {
    return null;
  }
}

export function removeRuntime(dataDir: string): void {
  rmSync(join(dataDir, 'postgres.json'), { force: true });
}

/** Opens a private file for the owner of its folder, so that a command run by root leaves none that he cannot open. */
function openOwned(path: string, flags: 'a+' | 'w'): number {
  const descriptor = openSync(path, flags, 0o600);
  const { uid, gid } = statSync(dirname(path));
  if (process.getuid?.() === 0 && uid !== 0) fchownSync(descriptor, uid, gid);
  return descriptor;
}
