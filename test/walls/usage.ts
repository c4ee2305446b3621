// What the service and its sandboxes hold at a moment: memory, disk, descriptors; and the most of it over a time.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BESIDE, CHECK_LANES, checkFolderOf } from '../../src/engine/sandbox/workdir/workdirs.js';

const run = promisify(execFile);
const EVERY_MS = 400;
const TMPFS = 0x01021994;
/** The folder in a sandbox that lies in memory. */
const IN_MEMORY = 'dev/shm';

/** Bytes, but for the descriptors. */
export interface Usage {
  /** Resident memory of the service's own processes. */
  service: number;
  /** Memory of everything that its workers have started: their pages, their files without a name in memory, their `/dev/shm`. */
  sandboxes: number;
  /** Uploads and files. */
  stored: number;
  /** The workdirs of the attack and of its checks, with `/tmp` and home beside them, and what was deleted in DATA_DIR and is held open. */
  workdirs: number;
  /** Of the process that has the most. */
  descriptors: number;
}

export const NOTHING: Usage = { service: 0, sandboxes: 0, stored: 0, workdirs: 0, descriptors: 0 };

function greatest(a: Usage, b: Usage): Usage {
  const names = Object.keys(NOTHING) as (keyof Usage)[];
  return Object.assign({}, NOTHING, Object.fromEntries(names.map((name) => [name, Math.max(a[name], b[name])])));
}

/** Looks again and again; {@link most} is the most that was seen since {@link begin}. */
export class UsageWatch {
  most = NOTHING;
  private taskIds: () => string[] = () => [];
  private readonly looking: Promise<void>;
  private stopped = false;

  /** @param pids of the service's own processes. */
  constructor(
    private readonly dataDir: string,
    private readonly pids: () => number[],
  ) {
    this.looking = this.go();
  }

  /**
   * Resolves with what is used now.
   * @param taskIds whose workdirs count from now on
   */
  begin(taskIds: () => string[]): Promise<Usage> {
    this.taskIds = taskIds;
    this.most = NOTHING;
    return this.look();
  }

  /** Takes one look, and adds it. */
  async look(): Promise<Usage> {
    const usage = await usageOf(this.dataDir, this.pids(), this.taskIds());
    this.most = greatest(this.most, usage);
    return usage;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.looking;
  }

  private async go(): Promise<void> {
    while (!this.stopped) {
      const began = performance.now();
      await this.look();
      // A look at thousands of processes or files is not to be what slows the others down.
      await wait(Math.max(EVERY_MS, 3 * (performance.now() - began)));
    }
  }
}

async function usageOf(dataDir: string, pids: number[], taskIds: string[]): Promise<Usage> {
  const started = descendants(pids);
  const { dev } = statSync(dataDir);
  const held = heldFiles([...pids, ...started]);
  const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);
  const workdirs = taskIds
    .flatMap((id) => [id, ...CHECK_LANES.map((lane) => checkFolderOf(id, lane))])
    .flatMap((id) => [id, id + BESIDE])
    .map((name) => join(dataDir, 'workdirs', name))
    .filter((path) => existsSync(path));
  return {
    service: sum(pids.map((pid) => kib(`/proc/${pid}/status`, 'VmRSS'))),
    sandboxes:
      sum(started.map((pid) => kib(`/proc/${pid}/smaps_rollup`, 'Pss'))) +
      sum(held.filter(({ memory }) => memory).map(({ bytes }) => bytes)) +
      sharedMemory(started),
    stored: await du([join(dataDir, 'files')]),
    workdirs: (await du(workdirs)) + sum(held.filter((file) => file.dev === dev).map(({ bytes }) => bytes)),
    descriptors: Math.max(0, ...pids.map((pid) => list(`/proc/${pid}/fd`).length)),
  };
}

/** Everything that these processes have started, and what that has started. */
function descendants(pids: number[]): number[] {
  const children = new Map<number, number[]>();
  for (const name of list('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // The name of a program, in brackets, may hold anything.
    const parent = Number(read(`/proc/${name}/stat`).split(') ').at(-1)?.split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: number[] = [];
  for (let next = pids; next.length > 0; found.push(...next)) next = next.flatMap((pid) => children.get(pid) ?? []);
  return found;
}

interface HeldFile {
  dev: number;
  bytes: number;
  /** A file of memfd_create(2), which no folder ever had. */
  memory: boolean;
}

/** Files without a name that somebody holds open, each once. */
function heldFiles(pids: number[]): HeldFile[] {
  const files = new Map<string, HeldFile>();
  for (const pid of pids) {
    for (const fd of list(`/proc/${pid}/fd`)) {
      const path = `/proc/${pid}/fd/${fd}`;
      try {
        const target = readlinkSync(path);
        if (!target.endsWith(' (deleted)')) continue;
        const { dev, ino, blocks } = statSync(path);
        files.set(`${dev}:${ino}`, { dev, bytes: blocks * 512, memory: target.startsWith('/memfd:') });
      } catch {
        // It is closed by now.
      }
    }
  }
  return [...files.values()];
}

/** What lies in the folders of shared memory of all sandboxes, each of which has its own. */
function sharedMemory(pids: number[]): number {
  const namespaces = new Map<string, number>();
  for (const pid of pids) {
    try {
      namespaces.set(readlinkSync(`/proc/${pid}/ns/mnt`), pid);
    } catch {
      // It has ended.
    }
  }
  return [...namespaces.values()].map((pid) => inTmpfs(`/proc/${pid}/root/${IN_MEMORY}`)).reduce((a, b) => a + b, 0);
}

function inTmpfs(path: string): number {
  try {
    const { type, blocks, bfree, bsize } = statfsSync(path);
    // A folder of the host, of a process that has not got its own yet, is none of theirs.
    return type === TMPFS && statSync(path).dev !== statSync('/dev/shm').dev ? (blocks - bfree) * bsize : 0;
  } catch {
    return 0;
  }
}

/** It complains when a file goes away under it, and counts the rest. */
async function du(paths: string[]): Promise<number> {
  if (paths.length === 0) return 0;
  const { stdout } = await run('du', ['-scx', '--block-size=1', '--', ...paths]).catch(
    (error: { stdout?: string }) => ({
      stdout: error.stdout ?? '',
    }),
  );
  return Number.parseInt(stdout.trimEnd().split('\n').at(-1) ?? '', 10) || 0;
}

function kib(path: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(read(path))?.[1] ?? 0) * 1024;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
