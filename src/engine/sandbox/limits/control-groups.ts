import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isLeftOver, isRoot, ownName, script } from '../host.js';
import type { SandboxLimits } from '../sandbox.js';
import { type BoxGroup, makeBoxGroup, removeTree } from './box-groups.js';

/** Below the group that is ours to divide: the groups of commands, and the processes that were in it before. */
const COMMANDS = 'millwright-commands';
const LEAF = 'millwright-service';
/** Without these two a group bounds nothing. `cpu` is taken where it is to be had. */
const NEEDED = ['memory', 'pids'];
/** All commands together, beside 100 of the service: when both want every core, the service has two thirds. */
const CPU_WEIGHT = '50';

/** Where the kernel lists groups; tests use another folder of the same shape. */
export interface GroupHost {
  proc: string;
  root: boolean;
}

/** Control groups v2 of this process's boxes and commands (kernel: Documentation/admin-guide/cgroup-v2.rst), one for each command. */
export class ControlGroups {
  private readonly prefix = ownName();
  private made = 0;

  private constructor(
    /** The folder in which the groups of boxes are made. */
    readonly path: string,
    /** Whether commands share the processor with the service by weight. */
    readonly cpu: boolean,
    private readonly limits: SandboxLimits,
  ) {}

  /** Looks for a group that this process may divide, and tries one. A text says why there is none. */
  static find(limits: SandboxLimits, at: GroupHost = { proc: '/proc', root: isRoot() }): ControlGroups | string {
    const reasons: string[] = [];
    for (const base of bases(at)) {
      if (typeof base === 'string') {
        reasons.push(base);
        continue;
      }
      try {
        return ControlGroups.open(base, limits, at);
      } catch (error) {
        reasons.push(`${base.path}: ${messageOf(error)}`);
      }
    }
    return reasons.join('; ');
  }

  private static open(base: Base, limits: SandboxLimits, at: GroupHost): ControlGroups {
    needControllers(base.path);
    // A group with processes cannot hand controllers on, but for the one at the top ("no internal processes").
    if (!base.top) vacate(base, at);
    handOn(base.path);
    const path = join(base.path, COMMANDS);
    mkdirSync(path, { recursive: true });
    needControllers(path);
    const cpu = handOn(path);
    if (cpu) writeFileSync(join(path, 'cpu.weight'), CPU_WEIGHT);
    sweep(path);
    const groups = new ControlGroups(path, cpu, limits);
    groups.tryOne();
    return groups;
  }

  /**
   * Groups for one box, in which no command is yet. Throws {@link SandboxError} when the kernel makes none.
   * @param memoryBytes of each command, at most those of all.
   */
  open(memoryBytes = this.limits.memoryBytes): BoxGroup {
    const path = join(this.path, `${this.prefix}.${this.made++}`);
    return makeBoxGroup(path, memoryBytes, this.limits.processes, this.cpu);
  }

  /** Whether a process that we start can enter: the kernel asks for rights also where the process comes from. */
  private tryOne(): void {
    const box = this.open();
    const { path } = box.make();
    try {
      const words = ['-c', script('enter'), 'enter', box.path, '/bin/sh', '-c', 'echo 0 >"$0/cgroup.procs"', path];
      execFileSync('/bin/sh', words, { env: {}, stdio: ['ignore', 'ignore', 'pipe'] });
    } finally {
      removeTree(dirname(box.path));
    }
  }
}

interface Base {
  path: string;
  /** The top of the hierarchy, which may hold processes and hand on controllers at once. */
  top: boolean;
  /** Whether the processes that have started this one may be moved with it. */
  withAncestors: boolean;
}

/** The groups that could be divided, best first, or why there is none. */
function bases({ proc, root }: GroupHost): (Base | string)[] {
  const own = /^0::(.*)$/m.exec(readFileSync(join(proc, 'self/cgroup'), 'utf8'))?.[1];
  const mount = unifiedMount(readFileSync(join(proc, 'self/mountinfo'), 'utf8'));
  if (own === undefined || mount === null) return ['control groups v2 are not mounted'];
  const top = existsSync(join(mount.path, 'cgroup.events')) ? null : mount.path;
  const below = mount.root === '/' ? own : own.startsWith(`${mount.root}/`) ? own.slice(mount.root.length) : null;
  const found: (Base | string)[] = [];
  // The group that somebody has given to the service comes first: its own limits go on to bound all of it.
  if (below !== null && below !== '/' && !below.split('/').includes('..')) {
    const path = join(mount.path, below);
    // An earlier process of the service has moved this one, or its parent, into the leaf.
    const given = basename(path) === LEAF ? dirname(path) : path;
    // Somebody's login shell is moved only where there is no other way.
    if (given !== top) found.push({ path: given, top: false, withAncestors: !(root && top !== null) });
  }
  if (top !== null) {
    found.push(root ? { path: top, top: true, withAncestors: false } : `${top}: it belongs to root`);
  }
  return found.length > 0 ? found : ['the group of this process is not visible'];
}

/** Where control groups v2 are mounted, and which group is seen there. */
function unifiedMount(mountinfo: string): { path: string; root: string } | null {
  for (const line of mountinfo.split('\n')) {
    // proc_pid_mountinfo(5): the fourth is the root, the fifth the mount point, the type stands after the hyphen.
    const [mount = '', source = ''] = line.split(' - ');
    const [, , , root, path] = mount.split(' ');
    if (source.startsWith('cgroup2 ') && root !== undefined && path !== undefined) return { path, root };
  }
  return null;
}

function needControllers(path: string): void {
  const there = words(join(path, 'cgroup.controllers'));
  const absent = NEEDED.filter((name) => !there.includes(name));
  if (absent.length > 0) throw new Error(`no controller for ${absent.join(' and ')} in control groups v2`);
}

/** Whether the processor is handed on too. */
function handOn(path: string): boolean {
  const file = join(path, 'cgroup.subtree_control');
  const enabled = words(file);
  const enable = (...names: string[]) => {
    const absent = names.filter((name) => !enabled.includes(name));
    if (absent.length > 0) writeFileSync(file, absent.map((name) => `+${name}`).join(' '));
  };
  enable(...NEEDED);
  try {
    if (!words(join(path, 'cgroup.controllers')).includes('cpu')) return false;
    enable('cpu');
    return true;
  } catch {
    return false;
  }
}

/** Moves this process and its family out of the group into a leaf of it. Throws when anybody else is in it. */
function vacate(base: Base, at: GroupHost): void {
  const leaf = join(base.path, LEAF);
  const moved = new Set<number>();
  // The next pass finds a child that is started meanwhile.
  for (;;) {
    const left = words(join(base.path, 'cgroup.procs')).map(Number);
    const next = left.filter((pid) => !moved.has(pid));
    if (next.length === 0) return;
    const strangers = next.filter((pid) => !isFamily(pid, base.withAncestors, at.proc));
    if (strangers.length > 0) throw new Error(`other processes are in it (${strangers.slice(0, 3).join(', ')})`);
    mkdirSync(leaf, { recursive: true });
    for (const pid of next) {
      moved.add(pid);
      move(pid, leaf);
    }
  }
}

function move(pid: number, group: string): void {
  try {
    writeFileSync(join(group, 'cgroup.procs'), String(pid));
  } catch (error) {
    // It has ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** This process, its descendants, and with `ancestors` the processes that have started it. 0 is a process that we cannot see. */
function isFamily(pid: number, ancestors: boolean, proc: string): boolean {
  return lineOf(pid, proc).includes(process.pid) || (ancestors && lineOf(process.pid, proc).includes(pid));
}

/** A process, its parent, and so on. */
function lineOf(pid: number, proc: string): number[] {
  const line: number[] = [];
  for (let at = pid; at > 0 && !line.includes(at); at = parentOf(at, proc)) line.push(at);
  return line;
}

function parentOf(pid: number, proc: string): number {
  try {
    // The name stands in brackets and may hold anything.
    const stat = readFileSync(join(proc, String(pid), 'stat'), 'utf8');
    return Number(
      stat
        .slice(stat.lastIndexOf(')') + 1)
        .trim()
        .split(' ')[1],
    );
  } catch {
    return 0;
  }
}

/** Removes the groups of dead processes of this host; the kernel removes none that has somebody in it. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (isLeftOver(name)) removeTree(join(folder, name));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Words of a file of the kernel's; none for an empty one. */
function words(path: string): string[] {
  return readFileSync(path, 'utf8').split(/\s+/).filter(Boolean);
}
