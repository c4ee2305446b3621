// The groups of one box and of its commands.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxError } from '../sandbox.js';

/** Below the group of a box: the process that holds it, and its commands. */
const HOLDER = 'holder';
const OF_BOX = 'commands';
/** All commands of a box together have so many times the limits of one. */
export const TOGETHER = 2;
/** Threads of what holds a box: a shell, and node where there is a way out. */
const HOLDING = 64;
/** For the last processes of a command, which the kernel ends by itself once it is told to. */
const END_MS = 2000;
const LOOK_MS = 5;

/** One command's group: all its processes, and every page that they touch first, shared memory and tmpfs included. */
export interface ControlGroup {
  /** The folder of the group. */
  readonly path: string;
  /** Puts a process into it. Throws when that is gone. */
  take(pid: number): void;
  /** Whether the kernel ended it because its processes together, or those of all commands of the box, used more memory than the limit. */
  outOfMemory(): boolean;
  /** Ends the processes that are left in it, and removes it. False: it does not become empty, and is left to the next boot. */
  remove(): Promise<boolean>;
}

/** The groups of one box: one of the process that holds it, and one for each of its commands, which together have limits too. */
export interface BoxGroup {
  /** The folder of the group of the process that holds it. */
  readonly path: string;
  /** A group for one command, with its limits. Throws {@link SandboxError} when the kernel makes none. */
  make(): ControlGroup;
  /** Removes all of them; a box has ended by then. */
  remove(): Promise<void>;
}

/**
 * Makes the groups of a box, in which no command is yet. Throws {@link SandboxError} when the kernel makes none.
 * @param box its folder, which is not there yet. @param memoryBytes of each command, as `processes`. @param cpu whether the processor is handed on.
 */
export function makeBoxGroup(box: string, memoryBytes: number, processes: number, cpu: boolean): BoxGroup {
  const [holder, commands] = [join(box, HOLDER), join(box, OF_BOX)];
  try {
    mkdirSync(box);
    set(box, 'cgroup.subtree_control', cpu ? '+cpu +memory +pids' : '+memory +pids');
    bounded(holder, memoryBytes, HOLDING);
    bounded(commands, TOGETHER * memoryBytes, TOGETHER * processes);
    set(commands, 'cgroup.subtree_control', '+memory +pids');
  } catch (error) {
    removeTree(box);
    throw notMade(error);
  }
  let made = 0;
  return {
    path: holder,
    make: () => {
      const path = join(commands, String(made++));
      try {
        bounded(path, memoryBytes, processes);
        // All of a command ends, not the largest of its processes: what is left would go on with half of its work missing.
        set(path, 'memory.oom.group', 1);
      } catch (error) {
        removeIfEmpty(path);
        throw notMade(error);
      }
      const take = (pid: number) => set(path, 'cgroup.procs', pid);
      return { path, take, outOfMemory: () => oomKills(path) > 0, remove: () => removeGroup(path) };
    },
    remove: async () => {
      await removeGroup(holder);
      removeTree(box);
    },
  };
}

/** Makes a group with limits of its own. */
function bounded(path: string, memoryBytes: number, processes: number): void {
  mkdirSync(path);
  set(path, 'memory.max', memoryBytes);
  // Absent where the kernel does not account swap: there the swap of the host is not bounded.
  if (existsSync(join(path, 'memory.swap.max'))) set(path, 'memory.swap.max', 0);
  set(path, 'pids.max', processes);
}

function set(path: string, file: string, value: string | number): void {
  writeFileSync(join(path, file), String(value));
}

function notMade(error: unknown): SandboxError {
  return new SandboxError(`No control group for a command: ${error instanceof Error ? error.message : String(error)}`, {
    cause: error,
  });
}

/** Removes a group with those below it, as far as nobody is in them. */
export function removeTree(path: string): void {
  const below = existsSync(path) ? readdirSync(path, { withFileTypes: true }) : [];
  for (const entry of below) if (entry.isDirectory()) removeTree(join(path, entry.name));
  removeIfEmpty(path);
}

function removeIfEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

async function removeGroup(path: string): Promise<boolean> {
  for (let waited = 0; waited < END_MS; waited += LOOK_MS) {
    if (removeIfEmpty(path)) return true;
    killAll(path);
    await sleep(LOOK_MS);
  }
  return removeIfEmpty(path);
}

function killAll(path: string): void {
  try {
    // From Linux 5.14 on.
    if (existsSync(join(path, 'cgroup.kill'))) writeFileSync(join(path, 'cgroup.kill'), '1');
    else pidsIn(path).forEach((pid) => process.kill(pid, 'SIGKILL'));
  } catch {
    // Gone meanwhile.
  }
}

function oomKills(path: string): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync(join(path, 'memory.events'), 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function pidsIn(path: string): number[] {
  return readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
}
