// Child processes of the bench: started on a free port of 127.0.0.1, waited for, measured in /proc, ended by their id.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

const BOOT_MS = 60_000;
const STOP_MS = 20_000;
/** USER_HZ of Linux: /proc counts CPU time in hundredths of a second. */
const TICK_SECONDS = 0.01;

const running = new Set();
// However the bench ends, short of a SIGKILL, what it started ends with it.
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** A program that is ready when `url` answers 200, and when there is none when `ready` says so. With `ipc` it sends messages. */
export class Program {
  #tail = '';

  constructor(child, url) {
    this.child = child;
    this.url = url;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => (this.#tail = (this.#tail + String(chunk)).slice(-4000)));
    }
  }

  /** `bootMs` is the time from the spawn to the first 200, to within 5 ms. */
  static async start(command, args, { env = {}, url = null, ready = url && (() => answers(url)), ...more } = {}) {
    const began = performance.now();
    const options = {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      stdio: [more.stdin ?? 'ignore', 'pipe', 'pipe', ...(more.ipc ? ['ipc'] : [])],
      ...(more.cwd && { cwd: more.cwd }),
    };
    const program = new Program(spawn(command, args, options), url);
    running.add(program.child);
    while (!(await ready(program))) {
      if (program.child.exitCode !== null || performance.now() - began > (more.patienceMs ?? BOOT_MS)) {
        // Or it would write into folders that are being removed.
        await program.stop();
        throw new Error(`${command} ${args.join(' ')} did not start:\n${program.#tail}`);
      }
      await delay(5);
    }
    program.bootMs = performance.now() - began;
    return program;
  }

  /** A script of the bench or of the product, on Node. */
  static node(file, options) {
    return Program.start(process.execPath, [...(options.flags ?? []), file, ...(options.args ?? [])], options);
  }

  /** CPU seconds so far, with those of all that it has started. */
  get cpu() {
    return cpuOfTree(this.child.pid);
  }

  /** Resident memory of the process and of what it started, MiB. */
  get residentMiB() {
    return withChildren(this.child.pid).reduce((sum, pid) => sum + residentMiB(pid), 0);
  }

  /** The same of what it started alone. */
  get startedMiB() {
    return this.residentMiB - residentMiB(this.child.pid);
  }

  async stop() {
    const { child } = this;
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(late);
    }
    running.delete(child);
  }
}

function cpuOf(stat) {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_SECONDS;
}

/** CPU seconds so far of a process and of all that it started, also of what has ended. */
export function cpuOfTree(pid) {
  return withChildren(pid).reduce((sum, one) => sum + cpuOf(readOr(`/proc/${one}/stat`, ') Z 0')), 0);
}

async function answers(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

function withChildren(root) {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => [Number(pid), parentOf(pid)]);
  const found = [root];
  for (const pid of found) found.push(...parents.filter(([, parent]) => parent === pid).map(([child]) => child));
  return found;
}

export function parentOf(pid) {
  const stat = readOr(`/proc/${pid}/stat`, ') Z 0');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function residentMiB(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readOr(`/proc/${pid}/status`, ''))?.[1] ?? 0) / 1024;
}

/** What is read may have ended. */
function readOr(path, fallback) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return fallback;
  }
}
