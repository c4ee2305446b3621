import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SandboxError } from './sandbox.js';

// Fixed, not the service's PATH: as root a folder of somebody else's must not decide what is started.
const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Runs a program of the host to its end; rejects when it fails. */
export const run = promisify(execFile);

/** Path of a program of the host, null when it is not installed. */
export function findProgram(name: string): string | null {
  for (const folder of FOLDERS) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  return null;
}

/** As {@link findProgram}, for what cannot be done without. */
export function needProgram(name: string, debianPackage: string): string {
  const path = findProgram(name);
  if (path !== null) return path;
  throw new SandboxError(`The program ${name} is missing; install the package ${debianPackage}.`);
}

/** Text of a shell script of `launch/`: given as an argument, because an unprivileged uid may not reach the file. */
export function script(name: 'launch' | 'enter' | 'box' | 'init' | 'namespaces' | 'probe'): string {
  // Without its remarks, which every process list would show.
  return readFileSync(new URL(`./launch/${name}.sh`, import.meta.url), 'utf8').replace(/^\s*#.*\n/gm, '');
}

/** A name for what is this process's own and useless after its end: `host.pid.chance`, with no other dots. */
export function ownName(): string {
  return `${host()}.${process.pid}.${randomBytes(4).toString('hex')}`;
}

/** Whether something with such a name, or one that begins with it, is of a process of this host that has ended. */
export function isLeftOver(name: string): boolean {
  const [of, pid] = name.split('.');
  return of === host() && !alive(Number(pid));
}

/** Containers that share a folder or control groups do not share process ids. */
function host(): string {
  return hostname().replaceAll('.', '-');
}

/** Whether a process of this number is there, somebody else's included. */
function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}
