import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeReachable, removeTree } from '../../src/platform/config/reachable.js';
import { FAR_LIMITS_ENV, FAR_LIMITS_FILE } from './limits.js';
import { freePort } from './ports.js';
import { sharedRedis } from './shared-redis.js';
import { until } from './until.js';

/** The built program. */
export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** The same, for which names below `.test` lead to this machine when agents read pages. */
export const WEB_SERVICE = fileURLToPath(new URL('web-service.mjs', import.meta.url));

/** Rate limits refill by the clock: a test that is not about them stays far away. One with a `CONFIG_FILE` of its own says so there. */
const FAR = { CONFIG_FILE: FAR_LIMITS_FILE, ...FAR_LIMITS_ENV };

/** Those that {@link ServiceProcess.start} has not handed over yet. */
const starting = new Set<ServiceProcess>();
// Of a test whose time ran out meanwhile: nobody else knows them.
afterAll(() => Promise.all([...starting].map((service) => service.end('SIGKILL'))));

/** A temporary folder outside of the repository. */
export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'millwright-test-'));
  const remove = () => {
    // It is closed to others, so what the sandbox's users reach of a DATA_DIR in it (or of itself) lies elsewhere.
    const inside = existsSync(path) ? readdirSync(path) : [];
    for (const dataDir of [path, ...inside.map((name) => join(path, name))]) removeReachable(dataDir);
    removeTree(path);
  };
  return { path, remove };
}

/** The built service as a process of its own, started as an operator would start it. */
export class ServiceProcess {
  private output = '';
  private constructor(
    readonly child: ChildProcess,
    readonly url: string,
  ) {
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (this.output += String(chunk)));
  }

  /**
   * Starts it and returns at once; see {@link ready}.
   * @param through a program with its arguments that becomes the service, such as prlimit(1).
   */
  static async spawn(env: Record<string, string>, main = MAIN, through: string[] = []): Promise<ServiceProcess> {
    if (!existsSync(main))
      throw new Error('dist/main.js is missing: run these tests through `npm test`, which builds.');
    const port = env['PORT'] ?? String(await freePort());
    const redis = await sharedRedis(env);
    const [program = '', ...words] = [...through, process.execPath, main];
    const child = spawn(program, words, {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: port, ...FAR, ...redis, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new ServiceProcess(child, `http://127.0.0.1:${port}`);
  }

  static async start(env: Record<string, string>, main = MAIN): Promise<ServiceProcess> {
    const service = await ServiceProcess.spawn(env, main);
    starting.add(service);
    try {
      await service.ready();
    } catch (error) {
      await service.end('SIGKILL');
      throw error;
    } finally {
      starting.delete(service);
    }
    return service;
  }

  get log(): string {
    return this.output;
  }

  get ended(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Resident memory, MiB. */
  get residentMiB(): number {
    const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  }

  /** @param within milliseconds. */
  async ready(within = 60_000): Promise<void> {
    const answers = async () => {
      if (this.ended) throw new Error(`The service ended instead of starting:\n${this.output}`);
      return (await fetch(`${this.url}/health/ready`).catch(() => null))?.ok;
    };
    await until('the service to be ready', answers, { within });
  }

  /** Ends it with a signal and resolves with its exit code, null when the signal killed it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (!this.ended) {
      const exited = new Promise((resolve) => this.child.once('exit', resolve));
      this.child.kill(signal);
      await exited;
    }
    return this.child.exitCode;
  }
}
