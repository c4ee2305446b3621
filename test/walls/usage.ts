// What the service and its sandboxes hold at a moment: memory, disk, descriptors; and the most of it over a time.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const EVERY_MS = 400;
const TMPFS = 0x01021994;
/** The folders in a sandbox that lie in memory. */
const IN_MEMORY = ['tmp', 'dev/shm', 'home/agent'];

/** Bytes, but for the descriptors. */
export interface Usage {
  /** Resident memory of the service's own processes. */
  service: number;
  /** Memory of everything that its workers have started: their pages, their files without a name in memory, their temporary folders. */
  sandboxes: number;
  /** What lies in DATA_DIR, and what was deleted there and is held open. Of an attack: what it has added. */
  disk: number;
  /** Of the process that has the most. */
  descriptors: number;
}

export const NOTHING: Usage = { service: 0, sandboxes: 0, disk: 0, descriptors: 0 };

export function greatest(a: Usage, b: Usage): Usage {
  const of = (name: keyof Usage) => Math.max(a[name], b[name]);
  return { service: of('service'), sandboxes: of('sandboxes'), disk: of('disk'), descriptors: of('descriptors') };
}

/** Looks again and again; {@link most} is the most that was seen since {@link begin}. */
export class UsageWatch {
  most = NOTHING;
  private looking: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly dataDir: string,
    private readonly pids: () => number[],
  ) {
    this.looking = this.go();
  }

  /** Resolves with what is used now. */
  async begin(): Promise<Usage> {
    this.most = NOTHING;
    await this.look();
    return this.most;
  }

  /** Takes one look more, and adds it. */
  async look(): Promise<void> {
    this.most = greatest(this.most, await usageOf(this.dataDir, this.pids()));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.looking;
  }

  private async go(): Promise<void> {
    while (!this.stopped) {
      await this.look();
      await wait(EVERY_MS);
    }
  }
}

/** @param pids of the service's own processes. */
export async function usageOf(dataDir: string, pids: number[]): Promise<Usage> {
  const started = descendants(pids);
  const { dev } = statSync(dataDir);
  const held = heldFiles([...pids, ...started]);
  const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);
  return {
    service: sum(pids.map((pid) => kib(`/proc/${pid}/status`, 'VmRSS'))),
    sandboxes:
      sum(started.map((pid) => kib(`/proc/${pid}/smaps_rollup`, 'Pss'))) +
      sum(held.filter(({ memory }) => memory).map(({ bytes }) => bytes)) +
      temporaryFolders(started),
    disk: (await du(dataDir)) + sum(held.filter((file) => file.dev === dev).map(({ bytes }) => bytes)),
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

/** What lies in the temporary folders of all sandboxes, each of which has its own. */
function temporaryFolders(pids: number[]): number {
  const namespaces = new Map<string, number>();
  for (const pid of pids) {
    try {
      namespaces.set(readlinkSync(`/proc/${pid}/ns/mnt`), pid);
    } catch {
      // It has ended.
    }
  }
  return [...namespaces.values()]
    .flatMap((pid) => IN_MEMORY.map((folder) => inTmpfs(`/proc/${pid}/root/${folder}`)))
    .reduce((a, b) => a + b, 0);
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
async function du(path: string): Promise<number> {
  const { stdout } = await run('du', ['-sx', '--block-size=1', '--', path]).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }));
  return Number.parseInt(stdout, 10) || 0;
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
